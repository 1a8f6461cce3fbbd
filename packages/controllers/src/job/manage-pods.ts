import { Job } from '@coxswain/api/batch/v1'
import { Pod } from '@coxswain/api/core/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import { isPodReady, isPodTerminating, type PodView } from '@coxswain/kinds'
import { minOf } from '@coxswain/kit'
import { type OperatorClient, type ReconcileContext, slowStart } from '@coxswain/runtime'
import { createPod, deletePod, isNamespaceTerminating, podFromTemplate } from '../pods/pod-control.ts'
import { type BackOff, backOffLeft, finishedAt } from './back-off.ts'
import { addIndexes, firstFree, noIndexes, uniteIndexes } from './indexes.ts'
import {
  allIndexFailuresOf,
  hasLimitPerIndex,
  indexOf,
  isIndexed,
  isSuspended,
  isTracked,
  type JobView,
  replacesOnlyFailed,
  trackedTemplate,
  trackingFinalizer,
  withIndex,
} from './job-pods.ts'
import { choosePodsToDelete } from './pods-to-delete.ts'
import type { Tally } from './tally.ts'

/** The largest number of pods created or deleted in one reconciliation. */
const burst = 500

/** The number of pods after changes. */
export interface Managed {
  readonly active: number
  readonly ready: number
  readonly terminating: number
  /** Milliseconds until pods in back-off may be created. */
  readonly wait?: number
  readonly error?: unknown
}

/** Creates missing or deletes surplus pods, never both. */
export async function managePods(
  context: ReconcileContext,
  job: JobView,
  tally: Tally,
  backOff: BackOff,
): Promise<Managed> {
  const { active } = tally
  if (isSuspended(job)) return await deletePods(context, job, tally, active, 'untracked')
  const desired = desiredActive(job, tally)
  const surplus = choosePodsToDelete(job, active, Math.max(0, active.length - desired))
  if (surplus.length > 0) return await deletePods(context, job, tally, surplus.slice(0, burst), 'untracked')
  const terminating = replacesOnlyFailed(job) ? tally.terminating : 0
  const missing = Math.min(desired - terminating - active.length, burst)
  return missing > 0 ? await createPods(context, job, tally, backOff, missing) : countsOf(tally)
}

function desiredActive({ spec }: JobView, { active, succeeded }: Tally): number {
  const parallelism = spec?.parallelism ?? 1
  // A work queue: once a pod has succeeded, the others finish and none is added.
  if (spec?.completions === undefined) return succeeded > 0 ? active.length : parallelism
  return Math.max(0, Math.min(spec.completions - succeeded, parallelism))
}

const countsOf = ({ active, ready, terminating }: Tally): Managed => ({
  active: active.length,
  ready,
  terminating,
})

/**
 * Deletes pods. They keep the tracking finalizer, to be counted, when the job finishes; it is removed first from surplus pods,
 * which do not count as failures.
 */
export async function deletePods(
  context: ReconcileContext,
  job: JobView,
  tally: Tally,
  pods: readonly PodView[],
  as: 'tracked' | 'untracked',
): Promise<Managed> {
  const owner = { kind: Job, object: job }
  const results = await Promise.allSettled(
    pods.map(async pod => {
      if (as === 'untracked') await removeTracking(context.client, pod)
      await deletePod(context, owner, pod)
    }),
  )
  const gone = pods.filter((_, index) => results[index]?.status === 'fulfilled')
  const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  return {
    active: tally.active.length - gone.length,
    ready: tally.ready - gone.filter(isPodReady).length,
    terminating: tally.terminating + gone.length,
    ...(failed && { error: failed.reason }),
  }
}

/** Removes the tracking finalizer from a pod; ignores one that is already deleted. */
export async function removeTracking(client: OperatorClient, pod: PodView): Promise<void> {
  if (!isTracked(pod)) return
  const { namespace = '', name } = pod.metadata
  const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } }
  try {
    await client.patch(Pod, { namespace, name }, patch, { type: 'strategic' })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function createPods(
  context: ReconcileContext,
  job: JobView,
  tally: Tally,
  backOff: BackOff,
  missing: number,
): Promise<Managed> {
  const counts = countsOf(tally)
  const now = context.clock.now()
  const indexes = isIndexed(job) ? chooseIndexes(job, tally, missing) : undefined
  const waits = hasLimitPerIndex(job)
    ? (indexes ?? []).map(index => untilReplaced(tally.indexes?.replaced.get(index), now))
    : [backOffLeft(backOff, now)]
  const wait = minOf(waits)
  if (wait > 0 && wait < Number.POSITIVE_INFINITY) return { ...counts, wait }
  const chosen = hasLimitPerIndex(job) ? indexes?.filter((_, place) => waits[place] === 0) : indexes
  const owner = { kind: Job, object: job }
  const plain = podFromTemplate(owner, trackedTemplate(job))
  const count = chosen?.length ?? missing
  const { succeeded, error } = await slowStart(count, async place => {
    const index = chosen?.[place]
    const pod = index === undefined ? plain : withIndex(plain, job, index, tally.indexes?.replaced.get(index))
    await createPod(context, owner, pod)
  })
  const isHopeless = error === undefined || isNamespaceTerminating(error)
  return { ...counts, active: counts.active + succeeded, ...(!isHopeless && { error }) }
}

/** The lowest indexes that have no pod and have neither succeeded nor failed. */
function chooseIndexes(job: JobView, { pods, active, indexes }: Tally, count: number): number[] {
  const { completions, succeeded, failed = noIndexes } = indexes!
  const busy = replacesOnlyFailed(job) ? [...active, ...pods.filter(isPodTerminating)] : active
  const taken = busy.map(pod => indexOf(pod, completions)).filter(index => index !== undefined)
  return firstFree(addIndexes(uniteIndexes(succeeded, failed), taken), count, completions)
}

function untilReplaced(replaced: PodView | undefined, now: number): number {
  if (!replaced) return 0
  const failures = allIndexFailuresOf(replaced) + 1
  return backOffLeft({ failures, lastFailure: finishedAt(replaced) }, now)
}
