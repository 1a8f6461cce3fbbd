import { isPodActive, isPodReady, isPodTerminating, type PodView } from '@coxswain/kinds'
import { finishedAt } from './back-off.ts'
import { judgeFailure } from './failure-policy.ts'
import { addIndexes, countIndexes, hasIndex, type Indexes, parseIndexes } from './indexes.ts'
import {
  allIndexFailuresOf,
  hasLimitPerIndex,
  indexFailuresOf,
  indexOf,
  isEnding,
  isFailed,
  isIndexed,
  isTracked,
  type JobView,
} from './job-pods.ts'

/** A summary of a job's pods together with the counts in its status. */
export interface Tally {
  readonly pods: readonly PodView[]
  readonly active: readonly PodView[]
  readonly ready: number
  readonly terminating: number
  /** Finished, and neither counted nor listed as uncounted. */
  readonly newSucceeded: readonly PodView[]
  readonly newFailed: readonly PodView[]
  readonly succeeded: number
  readonly failed: number
  /** Only for an indexed job. */
  readonly indexes?: IndexTally
}

export interface IndexTally {
  readonly completions: number
  readonly succeeded: Indexes
  /** Only with a back-off limit per index. */
  readonly failed?: Indexes
  /** Failed pods that are kept until another has taken over their index and its failure count. */
  readonly replaced: ReadonlyMap<number, PodView>
}

export function tallyPods(job: JobView, pods: readonly PodView[]): Tally {
  const { status } = job
  const uncounted = status?.uncountedTerminatedPods
  const completions = isIndexed(job) ? (job.spec?.completions ?? 0) : undefined
  const isValid = (pod: PodView, counted: readonly string[] = []) =>
    isTracked(pod) &&
    !counted.includes(pod.metadata.uid) &&
    (completions === undefined || indexOf(pod, completions) !== undefined)
  const active = pods.filter(isPodActive)
  const newSucceeded = pods.filter(
    pod => pod.status?.phase === 'Succeeded' && isValid(pod, uncounted?.succeeded),
  )
  const newFailed = pods.filter(pod => isFailed(pod, job) && isValid(pod, uncounted?.failed))
  const indexes = completions === undefined ? undefined : tallyIndexes(job, pods, completions)
  const counting = newFailed.filter(pod => judgeFailure(job, pod).counts)
  return {
    pods,
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    newSucceeded,
    newFailed,
    succeeded: indexes
      ? countIndexes(indexes.succeeded)
      : (status?.succeeded ?? 0) + newSucceeded.length + (uncounted?.succeeded?.length ?? 0),
    failed: (status?.failed ?? 0) + counting.length + (uncounted?.failed?.length ?? 0),
    ...(indexes && { indexes }),
  }
}

function tallyIndexes(job: JobView, pods: readonly PodView[], completions: number): IndexTally {
  const { completedIndexes, failedIndexes } = job.status ?? {}
  const indexesOf = (of: readonly PodView[]) =>
    of.map(pod => indexOf(pod, completions)).filter(index => index !== undefined)
  const tracked = pods.filter(isTracked)
  const succeededPods = tracked.filter(({ status }) => status?.phase === 'Succeeded')
  const succeeded = addIndexes(parseIndexes(completedIndexes, completions), indexesOf(succeededPods))
  if (!hasLimitPerIndex(job)) return { completions, succeeded, replaced: new Map() }
  const failed = addIndexes(
    parseIndexes(failedIndexes, completions),
    indexesOf(tracked.filter(pod => failsItsIndex(pod, job))),
  )
  const active = new Set(indexesOf(pods.filter(isPodActive)))
  const replaced = new Map<number, PodView>()
  for (const pod of tracked) {
    const index = indexOf(pod, completions)
    if (index === undefined || !isFailed(pod, job)) continue
    if (active.has(index) || hasIndex(succeeded, index) || hasIndex(failed, index)) continue
    const other = replaced.get(index)
    if (!other || isLater(pod, other)) replaced.set(index, pod)
  }
  return { completions, succeeded, failed, replaced }
}

/** Pods that are deleted because their job finishes do not fail their index. */
function failsItsIndex(pod: PodView, job: JobView): boolean {
  if (!isFailed(pod, job) || (isEnding(job) && pod.metadata.deletionTimestamp)) return false
  const { counts, failsIndex } = judgeFailure(job, pod)
  return failsIndex || (counts && indexFailuresOf(pod) >= (job.spec?.backoffLimitPerIndex ?? 0))
}

function isLater(pod: PodView, other: PodView): boolean {
  return allIndexFailuresOf(pod) >= allIndexFailuresOf(other) && finishedAt(pod) >= finishedAt(other)
}
