import type { ReplicaSetView } from './revisions.ts'
import { availableOf, byCreation, isActive, type Resize, sizeOf, sum } from './scaling.ts'
import { type DeploymentView, desiredReplicas, fenceposts, isRolling, maxUnavailable } from './strategy.ts'

/** The size that the new ReplicaSet may have now. */
export function newReplicaSetSize(
  deployment: DeploymentView,
  all: readonly ReplicaSetView[],
  size: number,
): number {
  const desired = desiredReplicas(deployment)
  if (!isRolling(deployment)) return desired
  const max = desired + fenceposts(deployment).surge
  const now = sum(all, sizeOf)
  if (now >= max) return size
  return size + Math.min(max - now, desired - size)
}

/** Scales down old ReplicaSets: unhealthy pods first, then as many as `maxUnavailable` allows. */
export function scaleDownOldReplicaSets(
  deployment: DeploymentView,
  newReplicaSet: ReplicaSetView,
  old: readonly ReplicaSetView[],
): Resize[] {
  const active = old.filter(isActive).sort(byCreation)
  if (active.length === 0) return []
  const minAvailable = desiredReplicas(deployment) - maxUnavailable(deployment)
  const sizes = new Map(active.map(set => [set, sizeOf(set)]))
  let maxScaledDown =
    sum([...active, newReplicaSet], sizeOf) -
    minAvailable -
    (sizeOf(newReplicaSet) - availableOf(newReplicaSet))
  if (maxScaledDown <= 0) return []
  for (const set of active) {
    const unhealthy = Math.min(maxScaledDown, sizeOf(set) - availableOf(set))
    if (unhealthy <= 0) continue
    sizes.set(set, sizeOf(set) - unhealthy)
    maxScaledDown -= unhealthy
  }
  let maxHealthyCut = sum([...active, newReplicaSet], availableOf) - minAvailable
  for (const set of active) {
    if (maxHealthyCut <= 0) break
    const cut = Math.min(sizes.get(set)!, maxHealthyCut)
    sizes.set(set, sizes.get(set)! - cut)
    maxHealthyCut -= cut
  }
  return active.filter(set => sizes.get(set) !== sizeOf(set)).map(set => ({ set, to: sizes.get(set)! }))
}
