/** The CronJob of the kubebuilder tutorial: Jobs on a schedule, with webhooks that default and validate. */
import { Job, JobTemplateSpec } from '@coxswain/api/batch/v1'
import { ObjectReference } from '@coxswain/api/core/v1'
import { type CronSchedule, nextCronTime, parseCronSchedule } from '@coxswain/apimachinery/cron'
import { deepEqual } from '@coxswain/apimachinery/json'
import {
  type DeepReadonly,
  defineKind,
  defineOperator,
  field,
  formatTime,
  isAlreadyExists,
  isControlledBy,
  type KindOf,
  newControllerReference,
  requeueAfter,
  s,
  TerminalError,
} from 'coxswain'

export const CronJob = defineKind({
  group: 'batch.tutorial.kubebuilder.io',
  kind: 'CronJob',
  versions: {
    v1: {
      spec: s.object({
        schedule: s.string({ minLength: 0 }).doc('In Cron format.'),
        startingDeadlineSeconds: s
          .int64({ minimum: 0 })
          .optional()
          .doc('How late a Job may start. Executions that miss it count as failed.'),
        concurrencyPolicy: s
          .enumOf('Allow', 'Forbid', 'Replace')
          .optional()
          .doc('What to do while the Job of an earlier execution runs: Allow is the default.'),
        suspend: s.boolean().optional().doc('Suspends later executions; Jobs that run are not affected.'),
        jobTemplate: s.ref(JobTemplateSpec).doc('The Job to create.'),
        successfulJobsHistoryLimit: s.int32({ minimum: 0 }).optional().doc('Successful Jobs to keep.'),
        failedJobsHistoryLimit: s.int32({ minimum: 0 }).optional().doc('Failed Jobs to keep.'),
      }),
      status: s.object({
        active: s.list(s.ref(ObjectReference)).optional().doc('Jobs that run.'),
        lastScheduleTime: s.time().optional().doc('When a Job was last created on schedule.'),
      }),
      columns: {
        Schedule: '.spec.schedule',
        Suspend: '.spec.suspend',
        'Last Schedule': '.status.lastScheduleTime',
      },
    },
  },
})
export type CronJob = KindOf<typeof CronJob.v1>

/** On Jobs: the time that they were scheduled at. */
export const scheduledAt = 'batch.tutorial.kubebuilder.io/scheduled-at'

/** The index of Jobs by the CronJob that controls them. */
const owner = '.metadata.controller'
/** The names of Jobs end in a dash and ten digits, and have at most 63 characters. */
const maxNameLength = 63 - 11
/** A CronJob that missed more executions than this is not worked on: its clock, or ours, is wrong. */
const maxMissed = 100

export default defineOperator('cronjob', operator => {
  operator.index(Job, owner, ({ metadata }) => {
    const controller = metadata.ownerReferences?.find(reference => reference.controller)
    const isOurs =
      controller?.apiVersion === 'batch.tutorial.kubebuilder.io/v1' && controller.kind === 'CronJob'
    return isOurs ? [controller.name] : []
  })

  operator
    .webhook(CronJob.v1)
    .default(({ spec }) => {
      spec.concurrencyPolicy ??= 'Allow'
      spec.suspend ??= false
      spec.successfulJobsHistoryLimit ??= 3
      spec.failedJobsHistoryLimit ??= 1
    })
    .validate(({ object: cronJob }) => {
      if (!cronJob) return
      const { metadata, spec } = cronJob
      const name = field.Path.of('metadata', 'name')
      const schedule = parseCronSchedule(spec.schedule)
      return [
        ...((metadata.name ?? '').length > maxNameLength
          ? [field.invalid(name, metadata.name ?? '', `must be no more than ${maxNameLength} characters`)]
          : []),
        ...(schedule.type === 'problem'
          ? [field.invalid(field.Path.of('spec', 'schedule'), spec.schedule, schedule.problem)]
          : []),
      ]
    })

  operator
    .controller('cronjob')
    .for(CronJob.v1)
    .owns(Job)
    .reconcile(async ({ key, client, clock, events, log }) => {
      const cronJob = await client.get(CronJob.v1, key)
      if (!cronJob || cronJob.metadata.deletionTimestamp) return
      const { namespace = 'default' } = key
      const { spec } = cronJob
      const listed = await client.list(Job, { namespace, fields: { [owner]: key.name } })
      const jobs = listed.items.filter(job => isControlledBy(job, cronJob))
      const active = jobs.filter(job => outcomeOf(job) === undefined)
      const deleteJob = (job: DeepReadonly<Job>) =>
        client.delete(Job, { namespace, name: job.metadata.name }, { propagationPolicy: 'Background' })

      const status = statusOf(active, jobs)
      if (!deepEqual(cronJob.status ?? {}, status))
        await client.updateStatus(CronJob.v1, { ...cronJob, status })

      const limits = [
        ['Complete', spec.successfulJobsHistoryLimit],
        ['Failed', spec.failedJobsHistoryLimit],
      ] as const
      for (const [outcome, limit] of limits) {
        if (limit === undefined) continue
        const ended = jobs.filter(job => outcomeOf(job) === outcome).toSorted(byStart)
        for (const job of ended.slice(0, Math.max(0, ended.length - limit))) await deleteJob(job)
      }

      if (spec.suspend) return
      const schedule = parseCronSchedule(spec.schedule)
      if (schedule.type === 'problem') throw new TerminalError(`spec.schedule: ${schedule.problem}`)
      const now = clock.now()
      const last = Date.parse(status.lastScheduleTime ?? cronJob.metadata.creationTimestamp)
      const deadline =
        spec.startingDeadlineSeconds === undefined ? undefined : Number(spec.startingDeadlineSeconds) * 1_000
      const missed = findMissed(schedule, { now, last, deadline })
      const next = nextCronTime(schedule, now)
      const later = next === undefined ? undefined : requeueAfter(next - now)
      if (missed === undefined) return later

      if (spec.concurrencyPolicy === 'Forbid' && active.length > 0) {
        log.debug('an earlier Job still runs', { active: active.length })
        return later
      }
      if (spec.concurrencyPolicy === 'Replace') for (const job of active) await deleteJob(job)
      // The name is made of the time: one execution makes one Job, however often it is reconciled.
      const name = `${key.name}-${missed / 1_000}`
      const { metadata, spec: template } = spec.jobTemplate
      try {
        await client.create(Job, {
          metadata: {
            ...(metadata?.labels && { labels: metadata.labels }),
            annotations: { ...metadata?.annotations, [scheduledAt]: formatTime(missed) },
            namespace,
            name,
            ownerReferences: [newControllerReference(cronJob)],
          },
          ...(template && { spec: template }),
        })
        events.normal(cronJob, 'SuccessfulCreate', `Created job ${name}`)
      } catch (error) {
        if (!isAlreadyExists(error)) throw error
      }
      return later
    })
})

function outcomeOf({ status }: DeepReadonly<Job>): 'Complete' | 'Failed' | undefined {
  const ended = status?.conditions?.find(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  )
  return ended?.type as 'Complete' | 'Failed' | undefined
}

const byStart = (a: DeepReadonly<Job>, b: DeepReadonly<Job>): number =>
  (a.status?.startTime ?? '').localeCompare(b.status?.startTime ?? '') ||
  a.metadata.name.localeCompare(b.metadata.name)

/** What the Jobs say: the status can be lost without harm. */
function statusOf(active: readonly DeepReadonly<Job>[], jobs: readonly DeepReadonly<Job>[]) {
  const times = jobs.flatMap(({ metadata }) => metadata.annotations?.[scheduledAt] ?? []).sort()
  const lastScheduleTime = times.at(-1)
  const references = active.map(({ metadata: { namespace = '', name, uid, resourceVersion } }) => {
    return {
      apiVersion: 'batch/v1',
      kind: 'Job',
      namespace,
      name,
      uid,
      resourceVersion: resourceVersion ?? '',
    }
  })
  return {
    ...(references.length > 0 && { active: references }),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
  }
}

interface Times {
  readonly now: number
  /** The last execution, or the creation of the CronJob. */
  readonly last: number
  readonly deadline: number | undefined
}

/** The latest execution that is due; undefined when there is none, or when it is too late for it. */
function findMissed(schedule: CronSchedule, { now, last, deadline }: Times): number | undefined {
  const since = deadline === undefined ? last : Math.max(last, now - deadline)
  let missed: number | undefined
  let count = 0
  for (
    let time = nextCronTime(schedule, since);
    time !== undefined && time <= now;
    time = nextCronTime(schedule, time)
  ) {
    missed = time
    if (++count > maxMissed)
      throw new TerminalError(
        'too many missed start times (> 100). Set or decrease .spec.startingDeadlineSeconds or check clock skew',
      )
  }
  return missed
}
