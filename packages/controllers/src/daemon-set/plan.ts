import { isAvailable, isFinished, isReady, type PodView } from '../pods/pod-state.ts'
import { hashLabel, isUpdated, type NodeView, placementOn, type SetView, targetNodeOf } from './placement.ts'
import { allowsSurge, countsOf } from './strategy.ts'

/** What there is, and what pods have to look like. */
export interface Scene {
  readonly set: SetView
  readonly nodes: readonly NodeView[]
  readonly pods: readonly PodView[]
  readonly hash: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** What is to be done. */
export interface Plan {
  /** The nodes that get a pod. */
  readonly create: string[]
  readonly delete: PodView[]
}

/** The pods of each node, those left out that have finished and are only waiting to be gone. */
export function groupByNode(pods: readonly PodView[]): Map<string, PodView[]> {
  const groups = new Map<string, PodView[]>()
  for (const pod of pods) {
    if (isFinished(pod) && pod.metadata.deletionTimestamp) continue
    const node = targetNodeOf(pod)
    if (node === undefined) continue
    const group = groups.get(node)
    if (group) group.push(pod)
    else groups.set(node, [pod])
  }
  return groups
}

/** Those with a node first, then the older ones. */
export function byAge(a: PodView, b: PodView): number {
  const bound = Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName))
  if (bound !== 0) return bound
  const age = Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp)
  return age !== 0 ? age : a.metadata.name < b.metadata.name ? -1 : 1
}

const isStaying = ({ metadata }: PodView) => !metadata.deletionTimestamp

/**
 * A pod on each node that is to have one, and none elsewhere. `removeFinished` is asked for each pod that has failed or
 * succeeded whether it may be deleted.
 */
export function planPods(scene: Scene, removeFinished: (pod: PodView, node: string) => boolean): Plan {
  const { set, nodes, pods } = scene
  const plan: Plan = { create: [], delete: [] }
  const groups = groupByNode(pods)
  const names = new Set(nodes.map(({ metadata }) => metadata.name))
  for (const node of nodes) {
    const { name } = node.metadata
    const group = groups.get(name)
    const { shouldRun, mayStay } = placementOn(set, node)
    if (!group) {
      if (shouldRun) plan.create.push(name)
    } else if (!mayStay) for (const item of group.filter(isStaying)) plan.delete.push(item)
    else {
      const staying = group.filter(isStaying)
      for (const item of staying.filter(pod => isFinished(pod) && removeFinished(pod, name)))
        plan.delete.push(item)
      const running = staying.filter(pod => !isFinished(pod)).sort(byAge)
      if (!allowsSurge(set)) for (const item of running.slice(1)) plan.delete.push(item)
      else if (running.length > 1) for (const item of surplusOf(scene, running)) plan.delete.push(item)
      else if (running.length === 0 && shouldRun) plan.create.push(name)
    }
  }
  // Pods for nodes that are gone: nobody else would ever see to them.
  for (const [name, group] of groups)
    if (!names.has(name))
      for (const item of group.filter(pod => !pod.spec.nodeName && isStaying(pod))) plan.delete.push(item)
  return plan
}

/** With surge a node may have two: an old one that is ready, and a new one that is not available yet. */
function surplusOf({ set, hash, now }: Scene, running: readonly PodView[]): PodView[] {
  const isNew = ({ metadata }: PodView) => metadata.labels?.[hashLabel] === hash
  const newest = running.find(isNew)
  const oldest = running.find(pod => !isNew(pod))
  const surplus = running.filter(pod => pod !== newest && pod !== oldest)
  if (!newest || !oldest) return surplus
  const isReplaced = !isReady(oldest) || isAvailable(newest, set.spec?.minReadySeconds ?? 0, now)
  return isReplaced ? [...surplus, oldest] : surplus
}

/** The pods of a node that stay; undefined when there are more than one old and one new. */
function pairOn(scene: Scene, group: readonly PodView[]) {
  const staying = group.filter(isStaying)
  const updated = staying.filter(pod => isUpdated(scene.set, pod, scene.hash))
  const old = staying.filter(pod => !updated.includes(pod))
  return updated.length > 1 || old.length > 1 ? undefined : { updated: updated[0], old: old[0] }
}

/** Replaces pods of older templates, within `maxUnavailable` and `maxSurge`. */
export function planUpdate(scene: Scene): Plan {
  const { set, nodes, pods } = scene
  const groups = groupByNode(pods)
  const wanted = new Set<string>()
  for (const node of nodes) {
    if (!placementOn(set, node).shouldRun) continue
    const { name } = node.metadata
    wanted.add(name)
    if (!groups.has(name)) groups.set(name, [])
  }
  const { surge, unavailable } = countsOf(set, wanted.size)
  return surge === 0
    ? planReplacement(scene, groups, unavailable)
    : planSurge(scene, groups, { surge, wanted })
}

/** Old pods are deleted; the next look creates new ones in their place. */
function planReplacement(
  scene: Scene,
  groups: ReadonlyMap<string, readonly PodView[]>,
  mostUnavailable: number,
): Plan {
  const minReady = scene.set.spec?.minReadySeconds ?? 0
  const unwell: PodView[] = []
  const well: PodView[] = []
  let missing = 0
  for (const group of groups.values()) {
    const { updated, old } = pairOn(scene, group) ?? {}
    const only = updated && old ? undefined : (updated ?? old)
    const isWell = only !== undefined && isAvailable(only, minReady, scene.now)
    if (!isWell) missing++
    if (only && only === old) (isWell ? well : unwell).push(only)
  }
  const room = Math.max(0, mostUnavailable - missing)
  return { create: [], delete: [...unwell, ...well.slice(0, room)] }
}

/** New pods are created beside old ones, which go when the new ones are available. */
function planSurge(
  scene: Scene,
  groups: ReadonlyMap<string, readonly PodView[]>,
  { surge, wanted }: { readonly surge: number; readonly wanted: ReadonlySet<string> },
): Plan {
  const minReady = scene.set.spec?.minReadySeconds ?? 0
  const isWell = (pod: PodView) => isAvailable(pod, minReady, scene.now)
  const known = new Set(scene.nodes.map(({ metadata }) => metadata.name))
  const plan: Plan = { create: [], delete: [] }
  const candidates: string[] = []
  const unwanted: PodView[] = []
  let surging = 0
  let available = 0
  for (const [name, group] of groups) {
    const pair = pairOn(scene, group)
    if (!pair) {
      surging++
      continue
    }
    const { updated, old } = pair
    const counted = old ?? updated
    if (counted && isWell(counted)) available++
    if (!old || !known.has(name)) continue
    if (updated) {
      if (isWell(updated)) plan.delete.push(old)
      else surging++
    } else if (wanted.has(name)) (isWell(old) ? candidates : plan.create).push(name)
    else (isWell(old) ? unwanted : plan.delete).push(old)
  }
  // A pod that is no longer wanted where it is stays until others have taken over.
  for (const item of unwanted.slice(0, Math.max(0, available - wanted.size))) plan.delete.push(item)
  for (const item of candidates.slice(0, Math.max(0, surge - surging))) plan.create.push(item)
  return plan
}
