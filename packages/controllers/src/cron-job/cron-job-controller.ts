import { CronJob, type CronJobStatus, Job } from '@coxswain/api/batch/v1'
import { type CronSchedule, isTimeZone, parseCronSchedule } from '@coxswain/apimachinery/cron'
import { deepEqual } from '@coxswain/apimachinery/json'
import { getControllerOf } from '@coxswain/apimachinery/meta'
import { isAlreadyExists } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  defineOperator,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { finishedCondition, type JobView } from '../job/job-pods.ts'
import { isNamespaceTerminating } from '../pods/pod-control.ts'
import {
  deleteJob,
  deleteOldJobs,
  findOldJobs,
  indexJobs,
  isScheduled,
  jobAt,
  jobNameAt,
  listJobsOf,
  referenceTo,
} from './jobs-of.ts'
import { type CronJobView, findMissed, isTooMany, untilNext } from './missed-times.ts'

type References = NonNullable<CronJobStatus['active']>

/** A mutable copy of a CronJob's status. */
interface Draft {
  active: References
  lastScheduleTime?: string
  lastSuccessfulTime?: string
}

/** Creates Jobs on a schedule. */
export function createCronJobController(): Operator {
  return defineOperator('cronjob-controller', operator => {
    /** The last observed schedule of each CronJob. */
    const schedules = new Map<string, string>()
    indexJobs(operator)
    operator
      .controller('cronjob')
      .for(CronJob)
      .owns(Job)
      .options({ eventSource: 'cronjob-controller', concurrency: 5 })
      .reconcile(async context => {
        const id = `${context.key.namespace}/${context.key.name}`
        const cronJob = await context.client.get(CronJob, context.key)
        if (!cronJob) {
          schedules.delete(id)
          return
        }
        const { schedule, timeZone = '' } = cronJob.spec ?? {}
        const present = `${cronJob.metadata.uid} ${timeZone} ${schedule}`
        const before = schedules.get(id)
        schedules.set(id, present)
        const isRescheduled = before !== undefined && before !== present
        return await sync(context, cronJob, { isRescheduled })
      })
  })
}

async function sync(
  context: ReconcileContext,
  given: CronJobView,
  { isRescheduled }: { readonly isRescheduled: boolean },
): Promise<ReconcileResult> {
  const { client } = context
  const jobs = await listJobsOf(client, given)
  const cronJob = await keepLastSuccess(context, given, jobs)
  const { active = [], lastScheduleTime, lastSuccessfulTime } = cronJob.status ?? {}
  const draft: Draft = {
    active: active.map(reference => ({ ...reference })),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
    ...(lastSuccessfulTime !== undefined && { lastSuccessfulTime }),
  }
  let wait: number | undefined
  let failure: unknown
  try {
    // No completion event for jobs that are deleted at once.
    const deleted = await deleteOldJobs(context, cronJob, jobs)
    draft.active = draft.active.filter(({ uid }) => !deleted.has(uid ?? ''))
    syncActiveJobs(context, cronJob, jobs, draft)
    await dropMissing(context, cronJob, jobs, draft)
    wait = await start(context, { cronJob, jobs, draft, isRescheduled })
  } catch (error) {
    failure = error
  }
  const { active: left, ...times } = draft
  const status: CronJobStatus = { ...times, ...(left.length > 0 && { active: left }) }
  if (!deepEqual(status, cronJob.status ?? {})) await client.updateStatus(CronJob, { ...cronJob, status })
  if (failure !== undefined) throw failure
  return wait === undefined ? undefined : requeueAfter(wait)
}

/** Records the time of the last success before the job that proves it is deleted, or it would be lost in a crash. */
async function keepLastSuccess(
  { client }: ReconcileContext,
  cronJob: CronJobView,
  jobs: readonly JobView[],
): Promise<CronJobView> {
  const { lastSuccessfulTime: known } = cronJob.status ?? {}
  const ends = findOldJobs(cronJob, jobs)
    .filter(job => finishedCondition(job)?.type === 'Complete')
    .flatMap(({ status }) => status?.completionTime ?? [])
    .toSorted((a, b) => Date.parse(b) - Date.parse(a))
  const [last] = ends
  if (last === undefined || (known !== undefined && Date.parse(last) <= Date.parse(known))) return cronJob
  return await client.updateStatus(CronJob, {
    ...cronJob,
    status: { ...cronJob.status, lastSuccessfulTime: last },
  })
}

/** Removes finished jobs from the active list, and records the time of the last success. */
function syncActiveJobs(
  { events }: ReconcileContext,
  cronJob: CronJobView,
  jobs: readonly JobView[],
  draft: Draft,
): void {
  for (const job of jobs) {
    const { uid, name } = job.metadata
    const isListed = draft.active.some(reference => reference.uid === uid)
    const finished = finishedCondition(job)
    if (!finished) {
      if (!isListed)
        events.warning(
          cronJob,
          'UnexpectedJob',
          `Saw a job that the controller did not create or forgot: ${name}`,
        )
      continue
    }
    if (isListed) {
      draft.active = draft.active.filter(reference => reference.uid !== uid)
      events.normal(cronJob, 'SawCompletedJob', `Saw completed job: ${name}, condition: ${finished.type}`)
    }
    const end = job.status?.completionTime
    const isLater = !draft.lastSuccessfulTime || Date.parse(end ?? '') > Date.parse(draft.lastSuccessfulTime)
    if (finished.type === 'Complete' && end !== undefined && isLater) draft.lastSuccessfulTime = end
  }
}

/** Removes deleted jobs from the active list. Reads from the server, since the cache may be stale. */
async function dropMissing(
  { client, events }: ReconcileContext,
  cronJob: CronJobView,
  jobs: readonly JobView[],
  draft: Draft,
): Promise<void> {
  for (const { uid, namespace = '', name = '' } of draft.active) {
    if (jobs.some(({ metadata }) => metadata.uid === uid)) continue
    const found = await client.get(Job, { namespace, name }, { cached: false })
    if (found) continue
    events.normal(cronJob, 'MissingJob', `Active job went missing: ${name}`)
    draft.active = draft.active.filter(reference => reference.uid !== uid)
  }
}

/** Starts the job that is due, if any. Resolves with the milliseconds until the next one. */
async function start(
  context: ReconcileContext,
  at: {
    readonly cronJob: CronJobView
    readonly jobs: readonly JobView[]
    readonly draft: Draft
    readonly isRescheduled: boolean
  },
): Promise<number | undefined> {
  const { clock, events } = context
  const { cronJob, jobs, draft, isRescheduled } = at
  const schedule = readSchedule(context, cronJob)
  if (!schedule) return undefined
  const now = clock.now()
  const next = () => untilNext({ ...cronJob, status: draft }, schedule, now)
  // Starts that a new schedule would have had in the past are not caught up.
  if (isRescheduled) return next()
  const missed = findMissed(cronJob, schedule, now, { withDeadline: true })
  if (typeof missed === 'string') {
    events.warning(cronJob, 'InvalidSchedule', `invalid schedule: ${cronJob.spec!.schedule} : ${missed}`)
    return undefined
  }
  const { latest } = missed
  if (latest === undefined) return next()
  if (isTooMany(missed))
    events.warning(
      cronJob,
      'TooManyMissedTimes',
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    )
  const deadline = cronJob.spec?.startingDeadlineSeconds
  if (deadline !== undefined && latest + Number(deadline) * 1_000 < now) {
    const time = new Date(latest).toUTCString().replace('GMT', '+0000')
    events.warning(cronJob, 'MissSchedule', `Missed scheduled time to start a job: ${time}`)
    return next()
  }
  const name = jobNameAt(cronJob, latest)
  const last = draft.lastScheduleTime
  if (draft.active.some(reference => reference.name === name)) return next()
  if (last !== undefined && Date.parse(last) === latest) return next()
  const running = [...draft.active, ...findForgotten(jobs, draft, name)]
  if (cronJob.spec?.concurrencyPolicy === 'Forbid' && running.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
    events.normal(cronJob, 'JobAlreadyActive', message)
    return next()
  }
  if (cronJob.spec?.concurrencyPolicy === 'Replace') {
    await stopJobs(context, cronJob, running)
    draft.active = []
  }
  const job = await createJob(context, cronJob, latest)
  if (!job) return next()
  draft.active.push(referenceTo(job))
  draft.lastScheduleTime = formatTime(latest)
  return next()
}

/** Undefined if nothing is to be started: the CronJob is terminating, suspended or invalid. */
function readSchedule({ events }: ReconcileContext, cronJob: CronJobView): CronSchedule | undefined {
  const { metadata, spec } = cronJob
  if (metadata.deletionTimestamp || !spec) return undefined
  const { timeZone, schedule: text } = spec
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    const message = `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`
    events.warning(cronJob, 'UnknownTimeZone', message)
    return undefined
  }
  if (spec.suspend) return undefined
  if (text.includes('TZ')) {
    const advice = 'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
    const message = `CRON_TZ or TZ used in schedule ${JSON.stringify(text)} is not officially supported, ${advice}`
    events.warning(cronJob, 'UnsupportedSchedule', message)
  }
  const schedule = parseCronSchedule(text, timeZone)
  if (schedule.type !== 'problem') return schedule
  const message = `unparseable schedule: ${JSON.stringify(text)} : ${schedule.problem}`
  events.warning(cronJob, 'UnparseableSchedule', message)
  return undefined
}

/**
 * Unfinished jobs of the schedule that the status does not list, because the controller was killed between creating one and
 * recording it. Excludes the job named `due`, which is to be started now.
 */
function findForgotten(jobs: readonly JobView[], { active }: Draft, due: string): References {
  const listed = new Set(active.map(({ uid }) => uid))
  return jobs
    .filter(job => isScheduled(job) && !finishedCondition(job) && !job.metadata.deletionTimestamp)
    .filter(({ metadata }) => metadata.name !== due && !listed.has(metadata.uid))
    .map(referenceTo)
}

async function stopJobs(
  context: ReconcileContext,
  cronJob: CronJobView,
  references: References,
): Promise<void> {
  for (const { uid = '', namespace = '', name = '' } of references) {
    if (!(await deleteJob(context, cronJob, { namespace, name, uid })))
      throw new Error(`could not replace job ${namespace}/${name}`)
  }
}

/** Undefined if the name is taken by a job of another owner, or the namespace is terminating. */
async function createJob(
  { client, events }: ReconcileContext,
  cronJob: CronJobView,
  time: number,
): Promise<JobView | undefined> {
  const desired = jobAt(cronJob, time)
  try {
    const job = await client.create(Job, desired)
    events.normal(cronJob, 'SuccessfulCreate', `Created job ${job.metadata.name}`)
    return job
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined
    if (isAlreadyExists(error)) {
      const { name, namespace = '' } = desired.metadata
      const job = await client.get(Job, { namespace, name }, { cached: false })
      return job && getControllerOf(job)?.uid === cronJob.metadata.uid ? job : undefined
    }
    events.warning(cronJob, 'FailedCreate', `Error creating job: ${(error as Error).message}`)
    throw error
  }
}
