import { CronJob, Job } from '@coxswain/api/batch/v1'
import type { ObjectReference } from '@coxswain/api/core/v1'
import { formatInZone } from '@coxswain/apimachinery/cron'
import { type DeepReadonly, getControllerOf } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { controllerReference } from '@coxswain/kinds'
import type { OperatorBuilder, OperatorClient, ReconcileContext } from '@coxswain/runtime'
import { finishedCondition, type JobView } from '../job/job-pods.ts'
import type { CronJobView } from './missed-times.ts'

const field = 'controller'
const scheduledTime = 'batch.kubernetes.io/cronjob-scheduled-timestamp'
const byController = (job: JobView): string[] => {
  const controller = getControllerOf(job)
  return controller ? [controller.uid] : []
}

/** Indexes jobs by controller. */
export function indexJobs(operator: OperatorBuilder): void {
  operator.index(Job, field, byController)
}

export async function listJobsOf(
  client: OperatorClient,
  { metadata }: CronJobView,
): Promise<readonly JobView[]> {
  return (await client.list(Job, { fields: { [field]: metadata.uid } })).items
}

/** Deterministic per minute, so that no run is started twice. */
export function jobNameAt({ metadata }: CronJobView, time: number): string {
  return `${metadata.name}-${Math.floor(time / 60_000)}`
}

/** The job of a scheduled time. */
export function jobAt(cronJob: CronJobView, time: number): DeepReadonly<Job> {
  const { metadata, spec } = cronJob
  const { labels = {}, annotations = {} } = spec!.jobTemplate.metadata ?? {}
  const job = {
    metadata: {
      name: jobNameAt(cronJob, time),
      namespace: metadata.namespace,
      labels,
      annotations: {
        ...annotations,
        [scheduledTime]: formatInZone(spec!.timeZone ?? 'UTC', time),
      },
      ownerReferences: [controllerReference(CronJob, cronJob)],
    },
    spec: spec!.jobTemplate.spec,
  }
  return job as unknown as DeepReadonly<Job> // the server sets the defaults
}

/** Whether the schedule created it; jobs created by users are left alone. */
export function isScheduled({ metadata }: JobView): boolean {
  return metadata.annotations?.[scheduledTime] !== undefined
}

export function referenceTo({ metadata }: JobView): ObjectReference {
  const { name, namespace = '', uid, resourceVersion = '' } = metadata
  return { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion }
}

/** Deletes a job and, in the background, its pods. Resolves with whether it is deleted. */
export async function deleteJob(
  { client, events }: Pick<ReconcileContext, 'client' | 'events'>,
  cronJob: CronJobView,
  key: { readonly namespace: string; readonly name: string; readonly uid: string },
): Promise<boolean> {
  const { uid, ...job } = key
  try {
    await client.delete(Job, job, { propagationPolicy: 'Background', preconditions: { uid } })
  } catch (error) {
    if (isNotFound(error)) return true
    events.warning(cronJob, 'FailedDelete', `Deleted job: ${(error as Error).message}`)
    return false
  }
  events.normal(cronJob, 'SuccessfulDelete', `Deleted job ${job.name}`)
  return true
}

/** Finished jobs beyond the history limits, oldest first. */
export function findOldJobs({ spec }: CronJobView, jobs: readonly JobView[]): readonly JobView[] {
  const { successfulJobsHistoryLimit: successful, failedJobsHistoryLimit: failed } = spec ?? {}
  const limits = [
    ['Complete', successful],
    ['Failed', failed],
  ] as const
  return limits.flatMap(([type, limit]) => {
    if (limit === undefined) return []
    const finished = jobs
      .filter(job => finishedCondition(job)?.type === type && !job.metadata.deletionTimestamp)
      .toSorted(byStart)
    return finished.slice(0, Math.max(0, finished.length - limit))
  })
}

/** Deletes the jobs that {@link findOldJobs} finds. Resolves with the uids of the deleted ones. */
export async function deleteOldJobs(
  context: Pick<ReconcileContext, 'client' | 'events'>,
  cronJob: CronJobView,
  jobs: readonly JobView[],
): Promise<ReadonlySet<string>> {
  const deleted = new Set<string>()
  for (const { metadata } of findOldJobs(cronJob, jobs)) {
    const { namespace = '', name, uid } = metadata
    if (await deleteJob(context, cronJob, { namespace, name, uid })) deleted.add(uid)
  }
  return deleted
}

function byStart(a: JobView, b: JobView): number {
  const startOf = ({ status }: JobView) =>
    status?.startTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(status.startTime)
  const [first, second] = [startOf(a), startOf(b)]
  return first === second ? (a.metadata.name < b.metadata.name ? -1 : 1) : first < second ? -1 : 1
}
