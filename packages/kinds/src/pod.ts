import type { Container, ContainerStatus, Pod, PodCondition, PodStatus } from '@coxswain/api/core/v1'
import {
  type DeepReadonly,
  findStatusCondition,
  isStatusConditionTrue,
  setCondition,
} from '@coxswain/apimachinery/meta'

/** A Pod as caches and listers return it. */
export type PodView = DeepReadonly<Pod>
type StatusOnly = { readonly status?: PodView['status'] | undefined }

/** Whether a phase is final: no container of the Pod runs or will run again. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

/** Whether a Pod has succeeded or failed. */
export function isPodTerminal({ status }: StatusOnly): boolean {
  return isTerminalPhase(status?.phase)
}

/** Whether a Pod is neither terminal nor being deleted. */
export function isPodActive(pod: PodView): boolean {
  return !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined
}

/** Whether a Pod is being deleted and not terminal yet. */
export function isPodTerminating(pod: PodView): boolean {
  return !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined
}

/** The condition of that type. */
export function podCondition({ status }: StatusOnly, type: string): DeepReadonly<PodCondition> | undefined {
  return findStatusCondition(status?.conditions, type)
}

/** Whether the Ready condition is True. */
export function isPodReady({ status }: StatusOnly): boolean {
  return isStatusConditionTrue(status?.conditions, 'Ready')
}

/** When a Pod became ready, in milliseconds; 0 where that is not known, undefined while it is not ready. */
export function podReadySince(pod: StatusOnly): number | undefined {
  const condition = podCondition(pod, 'Ready')
  if (condition?.status !== 'True') return undefined
  return !condition.lastTransitionTime ? 0 : Date.parse(condition.lastTransitionTime)
}

/** Whether a Pod has been ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: StatusOnly, minReadySeconds: number, now: number): boolean {
  if (minReadySeconds === 0) return isPodReady(pod)
  const since = podReadySince(pod)
  return since !== undefined && since > 0 && since + minReadySeconds * 1_000 <= now
}

/** Milliseconds until the next ready Pod becomes available; undefined when there is none to wait for. */
export function untilPodAvailable(
  pods: readonly PodView[],
  minReadySeconds: number,
  now: number,
): number | undefined {
  let next: number | undefined
  for (const pod of pods) {
    const since = podReadySince(pod)
    if (since === undefined || isPodAvailable(pod, minReadySeconds, now)) continue
    const left = since + minReadySeconds * 1_000 - now
    if (next === undefined || left < next) next = left
  }
  return next
}

/** The highest restart count of its containers. */
export function maxRestartCount({ status }: StatusOnly): number {
  return (status?.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0)
}

/** Whether an init container is a sidecar: one that keeps running beside the containers. */
export function isSidecar({ restartPolicy }: Pick<DeepReadonly<Container>, 'restartPolicy'>): boolean {
  return restartPolicy === 'Always'
}

/** The containers that run as long as the Pod does: its containers, then its sidecars. */
export function longRunningContainers({ spec }: Pick<PodView, 'spec'>): DeepReadonly<Container>[] {
  return [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)]
}

/** The statuses of containers and init containers, in that order. */
export function containerStatusesOf({ status }: StatusOnly): DeepReadonly<ContainerStatus>[] {
  return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
}

/** The status of a container or init container. */
export function findContainerStatus(
  { status }: StatusOnly,
  name: string,
): DeepReadonly<ContainerStatus> | undefined {
  return (
    status?.containerStatuses?.find(each => each.name === name) ??
    status?.initContainerStatuses?.find(each => each.name === name)
  )
}

/** The addresses of a Pod, the primary one first. */
export function podIPsOf({ status }: StatusOnly): string[] {
  if (status?.podIPs?.length) return status.podIPs.map(({ ip }) => ip)
  return status?.podIP ? [status.podIP] : []
}

/** Sets a condition in the status of a Pod. The time of its last transition moves only with its status. */
export function setPodCondition(
  status: PodStatus,
  { type, status: value, ...rest }: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>,
  now: string,
): void {
  const next = { type, status: value, lastProbeTime: null, lastTransitionTime: now, ...rest }
  status.conditions = setCondition<PodCondition>(status.conditions, next)
}
