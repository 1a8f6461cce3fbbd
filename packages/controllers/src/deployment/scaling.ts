import type { ReplicaSetView } from './revisions.ts'
import { annotatedDesiredReplicas, annotatedMaxReplicas } from './revisions.ts'
import { type DeploymentView, desiredReplicas, fenceposts } from './strategy.ts'

export const sizeOf = ({ spec }: ReplicaSetView): number => spec?.replicas ?? 1
export const availableOf = ({ status }: ReplicaSetView): number => status?.availableReplicas ?? 0
export const sum = (sets: readonly ReplicaSetView[], of: (set: ReplicaSetView) => number): number =>
  sets.reduce((total, set) => total + of(set), 0)

export const isActive = (set: ReplicaSetView): boolean => sizeOf(set) > 0

export function byCreation(a: ReplicaSetView, b: ReplicaSetView): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (left !== right) return left < right ? -1 : 1
  return a.metadata.name < b.metadata.name ? -1 : 1
}

/** A ReplicaSet and its desired size. */
export interface Resize {
  readonly set: ReplicaSetView
  readonly to: number
}

/** Whether `replicas` was changed: ReplicaSets record the desired count at the time they were scaled. */
export function isScaled(deployment: DeploymentView, sets: readonly ReplicaSetView[]): boolean {
  return sets.some(set => {
    const before = annotatedDesiredReplicas(set)
    return isActive(set) && before !== undefined && before !== desiredReplicas(deployment)
  })
}

/** Scales all active ReplicaSets in proportion, in the middle of a rollout. The result includes unchanged ones. */
export function scaleProportionally(deployment: DeploymentView, sets: readonly ReplicaSetView[]): Resize[] {
  const desired = desiredReplicas(deployment)
  const max = desired > 0 ? desired + fenceposts(deployment).surge : 0
  const active = sets.filter(isActive)
  const change = max - sum(active, sizeOf)
  // Larger ReplicaSets first; of equal size the newer when scaling up, the older when scaling down.
  const direction = change > 0 ? -1 : 1
  active.sort((a, b) => sizeOf(b) - sizeOf(a) || direction * byCreation(a, b))
  let given = 0
  const resizes = active.map(set => {
    const share = change === 0 ? 0 : shareOf(set, deployment, desired, change - given)
    given += share
    return { set, to: sizeOf(set) + share }
  })
  const first = resizes[0]
  if (first && change !== 0) resizes[0] = { ...first, to: Math.max(0, first.to + change - given) }
  return resizes
}

function shareOf(set: ReplicaSetView, deployment: DeploymentView, desired: number, left: number): number {
  if (left === 0) return 0
  let fraction: number
  if (desired === 0) fraction = -sizeOf(set)
  else {
    const before = annotatedMaxReplicas(set) || deployment.status?.replicas || 0
    if (before === 0) return 0
    const max = desired + fenceposts(deployment).surge
    fraction = Math.round((sizeOf(set) * max) / before) - sizeOf(set)
  }
  return left > 0 ? Math.min(fraction, left) : Math.max(fraction, left)
}
