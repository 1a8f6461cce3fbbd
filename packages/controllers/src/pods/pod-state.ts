import type { Pod, PodCondition } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export type PodView = DeepReadonly<Pod>

/** Neither finished nor going. */
export function isActive({ metadata, status }: PodView): boolean {
  return !isFinished({ status } as PodView) && metadata.deletionTimestamp === undefined
}

export function isFinished({ status }: Pick<PodView, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Going, and not finished yet. */
export function isTerminating(pod: PodView): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp !== undefined
}

/** The condition of that type. */
export function podCondition({ status }: PodView, wanted: string): DeepReadonly<PodCondition> | undefined {
  return status?.conditions?.find(({ type }) => type === wanted)
}

export function isReady(pod: PodView): boolean {
  return podCondition(pod, 'Ready')?.status === 'True'
}

/** When it got ready, in milliseconds; undefined while it is not. */
export function readySince(pod: PodView): number | undefined {
  const condition = podCondition(pod, 'Ready')
  if (condition?.status !== 'True') return undefined
  return !condition.lastTransitionTime ? 0 : Date.parse(condition.lastTransitionTime)
}

/** Ready for so long. */
export function isAvailable(pod: PodView, minReadySeconds: number, now: number): boolean {
  if (minReadySeconds === 0) return isReady(pod)
  const since = readySince(pod)
  return since !== undefined && since > 0 && since + minReadySeconds * 1_000 <= now
}

/** How many milliseconds until the next of these pods is available; undefined when none is on its way. */
export function untilAvailable(
  pods: readonly PodView[],
  minReadySeconds: number,
  now: number,
): number | undefined {
  let next: number | undefined
  for (const pod of pods) {
    const since = readySince(pod)
    if (since === undefined || isAvailable(pod, minReadySeconds, now)) continue
    const left = since + minReadySeconds * 1_000 - now
    if (next === undefined || left < next) next = left
  }
  return next
}

/** Of its containers together. */
export function restartsOf({ status }: PodView): number {
  return (status?.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0)
}
