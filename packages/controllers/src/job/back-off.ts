import { isSidecar, type PodView, podCondition } from '@coxswain/kinds'
import { maxOf } from '@coxswain/kit'

const first = 10_000
const longest = 600_000

/** The failures of a job's pods since its last success. */
export interface BackOff {
  readonly failures: number
  /** The time of the last failure in milliseconds. */
  readonly lastFailure: number
}

export const noBackOff: BackOff = { failures: 0, lastFailure: 0 }

/** Adds pods that have finished since. */
export function backOffAfter(
  before: BackOff,
  succeeded: readonly PodView[],
  failed: readonly PodView[],
): BackOff {
  const failures = failed.map(finishedAt)
  if (succeeded.length === 0) {
    if (failures.length === 0) return before
    return { failures: before.failures + failures.length, lastFailure: maxOf(failures) }
  }
  const lastSuccess = maxOf(succeeded.map(finishedAt))
  const later = failures.filter(time => time > lastSuccess)
  return later.length === 0 ? noBackOff : { failures: later.length, lastFailure: maxOf(later) }
}

/** Milliseconds until pods may be created again: ten seconds after the last failure, doubling with each. */
export function backOffLeft({ failures, lastFailure }: BackOff, now: number): number {
  if (failures === 0) return 0
  const wait = Math.min(longest, first * 2 ** Math.min(failures - 1, 20))
  return Math.max(0, lastFailure + wait - now)
}

/** The best estimate of when a pod finished, in milliseconds. */
export function finishedAt(pod: PodView): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata
  const containers = lastContainerEnd(pod)
  if (containers !== undefined) return containers
  const ready = podCondition(pod, 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime)
  if (deletionTimestamp) return Date.parse(deletionTimestamp) - Number(deletionGracePeriodSeconds) * 1_000
  return creationTimestamp ? Date.parse(creationTimestamp) : 0
}

/** Undefined while a container, sidecars included, is running or has no finish time. */
function lastContainerEnd({ spec, status }: PodView): number | undefined {
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name))
  const watched = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ]
  let last: number | undefined
  for (const { state } of watched) {
    const time = state?.terminated?.finishedAt
    if (!time) return undefined
    last = Math.max(last ?? 0, Date.parse(time))
  }
  return last
}
