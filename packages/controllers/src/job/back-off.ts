import { maxOf } from '@coxswain/kit'
import type { PodView } from '../pods/pod-state.ts'
import { podCondition } from '../pods/pod-state.ts'

const first = 10_000
const longest = 600_000

/** The failures of a job's pods since the last that succeeded. */
export interface BackOff {
  readonly failures: number
  /** When the latest was, in milliseconds. */
  readonly lastFailure: number
}

export const noBackOff: BackOff = { failures: 0, lastFailure: 0 }

/** What it comes to with pods that have finished since. */
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

/** How many milliseconds until pods may be made again: ten seconds after the last failure, doubling with each. */
export function backOffLeft({ failures, lastFailure }: BackOff, now: number): number {
  if (failures === 0) return 0
  const wait = Math.min(longest, first * 2 ** Math.min(failures - 1, 20))
  return Math.max(0, lastFailure + wait - now)
}

/** When a pod finished, as well as that can be told, in milliseconds. */
export function finishedAt(pod: PodView): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata
  const containers = lastContainerEnd(pod)
  if (containers !== undefined) return containers
  const ready = podCondition(pod, 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime) return Date.parse(ready.lastTransitionTime)
  if (deletionTimestamp) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1_000
  return creationTimestamp ? Date.parse(creationTimestamp) : 0
}

/** Undefined while one of them, sidecars included, runs or has left no time. */
function lastContainerEnd({ spec, status }: PodView): number | undefined {
  const sidecars = new Set(
    (spec.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  )
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
