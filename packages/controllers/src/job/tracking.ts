import { Job, type JobCondition, type JobStatus } from '@coxswain/api/batch/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import type { PodView } from '@coxswain/kinds'
import type { OperatorClient, ReconcileContext } from '@coxswain/runtime'
import type { Ending } from './ending.ts'
import { judgeFailure } from './failure-policy.ts'
import { countIndexes, formatIndexes } from './indexes.ts'
import { indexOf, isFailed, isSuccessReported, isTracked, type JobView } from './job-pods.ts'
import { removeTracking } from './manage-pods.ts'
import type { Tally } from './tally.ts'

/** The largest number of pods listed as uncounted at once, which keeps the status small. */
const mostUncounted = 500

/** A mutable copy of a job's status. */
export interface Draft {
  startTime?: string
  completionTime?: string
  conditions: JobCondition[]
  active: number
  ready: number
  terminating: number
  succeeded: number
  failed: number
  completedIndexes: string
  failedIndexes?: string
  readonly uncounted: { succeeded: string[]; failed: string[] }
}

export function draftOf({ status = {} }: JobView): Draft {
  const { startTime, completionTime, failedIndexes, uncountedTerminatedPods: uncounted } = status
  return {
    ...(startTime !== undefined && { startTime }),
    ...(completionTime !== undefined && { completionTime }),
    ...(failedIndexes !== undefined && { failedIndexes }),
    conditions: (status.conditions ?? []).map(condition => ({ ...condition })),
    active: status.active ?? 0,
    ready: status.ready ?? 0,
    terminating: status.terminating ?? 0,
    succeeded: status.succeeded ?? 0,
    failed: status.failed ?? 0,
    completedIndexes: status.completedIndexes ?? '',
    uncounted: { succeeded: [...(uncounted?.succeeded ?? [])], failed: [...(uncounted?.failed ?? [])] },
  }
}

function statusOf({ uncounted, conditions, ...draft }: Draft): JobStatus {
  const { active, succeeded, failed, completedIndexes, ...kept } = draft
  return {
    ...kept,
    ...(conditions.length > 0 && { conditions }),
    ...(active > 0 && { active }),
    ...(succeeded > 0 && { succeeded }),
    ...(failed > 0 && { failed }),
    ...(completedIndexes !== '' && { completedIndexes }),
    uncountedTerminatedPods: {
      ...(uncounted.succeeded.length > 0 && { succeeded: uncounted.succeeded }),
      ...(uncounted.failed.length > 0 && { failed: uncounted.failed }),
    },
  }
}

/** Resolves with the updated job. */
export async function writeStatus(client: OperatorClient, job: JobView, draft: Draft): Promise<JobView> {
  const status = statusOf(draft)
  return deepEqual(status, job.status ?? {}) ? job : await client.updateStatus(Job, { ...job, status })
}

export function conditionOf(
  type: string,
  status: string,
  { reason, message }: Pick<JobCondition, 'reason' | 'message'>,
  now: number,
): JobCondition {
  const time = formatTime(now)
  return {
    type,
    status,
    lastProbeTime: time,
    lastTransitionTime: time,
    ...(reason && { reason }),
    ...(message && { message }),
  }
}

/** Updates the completed and failed indexes. */
export function noteIndexes(draft: Draft, { indexes }: Tally): void {
  if (!indexes) return
  draft.completedIndexes = formatIndexes(indexes.succeeded)
  draft.succeeded = countIndexes(indexes.succeeded)
  if (indexes.failed) draft.failedIndexes = formatIndexes(indexes.failed)
}

/** Adds the interim condition. */
export function addInterimCondition(draft: Draft, ending: Ending, now: number): void {
  const type = ending.isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget'
  draft.conditions.push(conditionOf(type, 'True', ending, now))
}

export interface Tracked {
  /** The job after the update. */
  readonly job: JobView
  /** It finished in this reconciliation. */
  readonly isOver: boolean
}

/**
 * Counts each finished pod exactly once, across crashes: it is first listed as uncounted in the status, then loses its finalizer,
 * and then moves from the list to a counter. `onWritten` is called after the first step.
 */
export async function track(
  { client, clock }: Pick<ReconcileContext, 'client' | 'clock'>,
  { job: before, tally, ending, draft }: Tracking,
  onWritten: () => void,
): Promise<Tracked> {
  let job = before
  const flush = async () => {
    job = await writeStatus(client, job, draft)
  }
  const tracked = new Set(tally.pods.filter(isTracked).map(({ metadata }) => metadata.uid))
  count(draft, tracked)
  const { released, isCut } = listUncounted(before, tally, ending, draft)
  if (ending && !ending.isReported) addInterimCondition(draft, ending, clock.now())
  await flush()
  onWritten()
  const results = await Promise.allSettled(released.map(pod => removeTracking(client, pod)))
  for (const [index, pod] of released.entries())
    if (results[index]?.status === 'fulfilled') tracked.delete(pod.metadata.uid)
  count(draft, tracked)
  const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  const left = draft.uncounted.succeeded.length + draft.uncounted.failed.length
  const isOver = ending !== undefined && !failed && !isCut && left === 0 && draft.terminating === 0
  if (isOver) {
    const condition = conditionOf(ending.isSuccess ? 'Complete' : 'Failed', 'True', ending, clock.now())
    draft.conditions = [...draft.conditions.filter(({ type }) => type !== condition.type), condition]
    if (ending.isSuccess) draft.completionTime = condition.lastTransitionTime as string
  }
  await flush()
  if (failed) throw failed.reason
  return { job, isOver }
}

export interface Tracking {
  readonly job: JobView
  readonly tally: Tally
  readonly ending: Ending | undefined
  /** Mutated along with the status. */
  readonly draft: Draft
}

/** Moves listed pods without a finalizer to the counters. */
function count(draft: Draft, tracked: ReadonlySet<string>): void {
  for (const kind of ['succeeded', 'failed'] as const) {
    const left = draft.uncounted[kind].filter(uid => tracked.has(uid))
    draft[kind] += draft.uncounted[kind].length - left.length
    draft.uncounted[kind] = left
  }
}

/** Lists the finished pods, and returns those whose finalizer may be removed. */
function listUncounted(
  job: JobView,
  { pods, indexes }: Tally,
  ending: Ending | undefined,
  draft: Draft,
): { readonly released: readonly PodView[]; readonly isCut: boolean } {
  const { uncounted } = draft
  const released: PodView[] = []
  const completions = indexes?.completions ?? 0
  const order = indexes
    ? pods.toSorted((a, b) => (indexOf(a, completions) ?? -1) - (indexOf(b, completions) ?? -1))
    : pods
  for (const pod of order) {
    if (!isTracked(pod) || !mayRemoveFinalizer(job, pod, indexes?.replaced, ending)) continue
    released.push(pod)
    const { uid } = pod.metadata
    const isKnownIndex = !indexes || indexOf(pod, completions) !== undefined
    if (pod.status?.phase === 'Succeeded' && !uncounted.failed.includes(uid)) {
      // The index alone shows that the pod was counted.
      if (!indexes && !uncounted.succeeded.includes(uid)) uncounted.succeeded.push(uid)
    } else if (isKnownIndex && !uncounted.failed.includes(uid) && countsAsFailed(job, pod, ending))
      uncounted.failed.push(uid)
    if (released.length >= mostUncounted) break
  }
  return { released, isCut: released.length >= mostUncounted }
}

function mayRemoveFinalizer(
  job: JobView,
  pod: PodView,
  replaced: ReadonlyMap<number, PodView> | undefined,
  ending: Ending | undefined,
): boolean {
  if (job.metadata.deletionTimestamp || ending || pod.status?.phase === 'Succeeded') return true
  if (!isFailed(pod, job)) return false
  const kept = replaced?.get(indexOf(pod, job.spec?.completions ?? 0) ?? -1)
  return kept?.metadata.uid !== pod.metadata.uid
}

/** Pods deleted by a failing job count as failed; those deleted by a succeeding one do not. */
function countsAsFailed(job: JobView, pod: PodView, ending: Ending | undefined): boolean {
  const isSuccess = ending?.isSuccess ?? isSuccessReported(job)
  const isStopped = isSuccess && pod.metadata.deletionTimestamp !== undefined
  const hasFailed = !isStopped && isFailed(pod, job)
  return (hasFailed || ending?.isSuccess === false) && judgeFailure(job, pod).counts
}
