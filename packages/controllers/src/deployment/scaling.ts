import type { SetView } from './revisions.ts'
import { desiredBefore, mostBefore } from './revisions.ts'
import { type DeploymentView, fenceposts, isRolling, maxUnavailable, wantedReplicas } from './strategy.ts'

export const sizeOf = ({ spec }: SetView): number => spec?.replicas ?? 1
export const availableOf = ({ status }: SetView): number => status?.availableReplicas ?? 0
export const sum = (sets: readonly SetView[], of: (set: SetView) => number): number =>
  sets.reduce((total, set) => total + of(set), 0)

export const isActiveSet = (set: SetView): boolean => sizeOf(set) > 0

export function byCreation(a: SetView, b: SetView): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (left !== right) return left < right ? -1 : 1
  return a.metadata.name < b.metadata.name ? -1 : 1
}

/** A set and the size it gets. */
export interface Resize {
  readonly set: SetView
  readonly to: number
}

/** How large the newest set may be now. */
export function newSetSize(deployment: DeploymentView, all: readonly SetView[], size: number): number {
  const wanted = wantedReplicas(deployment)
  if (!isRolling(deployment)) return wanted
  const most = wanted + fenceposts(deployment).surge
  const now = sum(all, sizeOf)
  if (now >= most) return size
  return size + Math.min(most - now, wanted - size)
}

/** Whether somebody has changed `replicas`: sets remember what was wanted when they were scaled. */
export function isScaled(deployment: DeploymentView, sets: readonly SetView[]): boolean {
  return sets.some(set => {
    const before = desiredBefore(set)
    return isActiveSet(set) && before !== undefined && before !== wantedReplicas(deployment)
  })
}

/** Old sets give way: first pods that are no use anyway, then as many as availability allows. */
export function shrinkOldSets(
  deployment: DeploymentView,
  newest: SetView,
  old: readonly SetView[],
): Resize[] {
  const active = old.filter(isActiveSet).sort(byCreation)
  if (active.length === 0) return []
  const least = wantedReplicas(deployment) - maxUnavailable(deployment)
  const sizes = new Map(active.map(set => [set, sizeOf(set)]))
  let mayGo = sum([...active, newest], sizeOf) - least - (sizeOf(newest) - availableOf(newest))
  if (mayGo <= 0) return []
  for (const set of active) {
    const useless = Math.min(mayGo, sizeOf(set) - availableOf(set))
    if (useless <= 0) continue
    sizes.set(set, sizeOf(set) - useless)
    mayGo -= useless
  }
  let spare = sum([...active, newest], availableOf) - least
  for (const set of active) {
    if (spare <= 0) break
    const cut = Math.min(sizes.get(set)!, spare)
    sizes.set(set, sizes.get(set)! - cut)
    spare -= cut
  }
  return active.filter(set => sizes.get(set) !== sizeOf(set)).map(set => ({ set, to: sizes.get(set)! }))
}

/** In the middle of a rollout every set grows or shrinks by its share. All active sets are listed, also unchanged ones. */
export function scaleInProportion(deployment: DeploymentView, sets: readonly SetView[]): Resize[] {
  const wanted = wantedReplicas(deployment)
  const most = wanted > 0 ? wanted + fenceposts(deployment).surge : 0
  const active = sets.filter(isActiveSet)
  const change = most - sum(active, sizeOf)
  // The larger first; of equals the newer when there is more to give, the older when there is less.
  const direction = change > 0 ? -1 : 1
  active.sort((a, b) => sizeOf(b) - sizeOf(a) || direction * byCreation(a, b))
  let given = 0
  const resizes = active.map(set => {
    const share = change === 0 ? 0 : shareOf(set, deployment, wanted, change - given)
    given += share
    return { set, to: sizeOf(set) + share }
  })
  const first = resizes[0]
  if (first && change !== 0) resizes[0] = { ...first, to: Math.max(0, first.to + change - given) }
  return resizes
}

function shareOf(set: SetView, deployment: DeploymentView, wanted: number, left: number): number {
  if (left === 0) return 0
  let fraction: number
  if (wanted === 0) fraction = -sizeOf(set)
  else {
    const before = mostBefore(set) || deployment.status?.replicas || 0
    if (before === 0) return 0
    const most = wanted + fenceposts(deployment).surge
    fraction = Math.round((sizeOf(set) * most) / before) - sizeOf(set)
  }
  return left > 0 ? Math.min(fraction, left) : Math.max(fraction, left)
}
