import { isPodAvailable, isPodReady, isPodTerminal, type NodeView, type PodView } from '@coxswain/kinds'
import { type DaemonSetView, hashLabel, placementOn, targetNodeOf } from './placement.ts'
import { allowsSurge } from './strategy.ts'

/** The state that a plan is made from. */
export interface PlanInput {
  readonly set: DaemonSetView
  readonly nodes: readonly NodeView[]
  readonly pods: readonly PodView[]
  readonly hash: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The pods to create and delete. */
export interface Plan {
  /** The nodes to create a pod on. */
  readonly create: string[]
  readonly delete: PodView[]
}

/** The pods by node, without finished ones that are terminating. */
export function groupByNode(pods: readonly PodView[]): Map<string, PodView[]> {
  const groups = new Map<string, PodView[]>()
  for (const pod of pods) {
    if (isPodTerminal(pod) && pod.metadata.deletionTimestamp) continue
    const node = targetNodeOf(pod)
    if (node === undefined) continue
    const group = groups.get(node)
    if (group) group.push(pod)
    else groups.set(node, [pod])
  }
  return groups
}

/** Scheduled pods first, then older ones. */
export function byAge(a: PodView, b: PodView): number {
  const bound = Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName))
  if (bound !== 0) return bound
  const age = Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp)
  return age !== 0 ? age : a.metadata.name < b.metadata.name ? -1 : 1
}

export const isLive = ({ metadata }: PodView): boolean => !metadata.deletionTimestamp

/**
 * Plans one pod on each node that should have one, and none elsewhere. `removeFinished` decides whether a failed or succeeded pod
 * may be deleted.
 */
export function planPods(input: PlanInput, removeFinished: (pod: PodView, node: string) => boolean): Plan {
  const { set, nodes, pods } = input
  const plan: Plan = { create: [], delete: [] }
  const groups = groupByNode(pods)
  const names = new Set(nodes.map(({ metadata }) => metadata.name))
  for (const node of nodes) {
    const { name } = node.metadata
    const group = groups.get(name)
    const { shouldRun, mayStay } = placementOn(set, node)
    if (!group) {
      if (shouldRun) plan.create.push(name)
    } else if (!mayStay) for (const item of group.filter(isLive)) plan.delete.push(item)
    else {
      const live = group.filter(isLive)
      for (const item of live.filter(pod => isPodTerminal(pod) && removeFinished(pod, name)))
        plan.delete.push(item)
      const running = live.filter(pod => !isPodTerminal(pod)).sort(byAge)
      if (!allowsSurge(set)) for (const item of running.slice(1)) plan.delete.push(item)
      else if (running.length > 1) for (const item of surplusOf(input, running)) plan.delete.push(item)
      else if (running.length === 0 && shouldRun) plan.create.push(name)
    }
  }
  // Pods for deleted nodes that were never scheduled: nothing else would delete them.
  for (const [name, group] of groups)
    if (!names.has(name))
      for (const item of group.filter(pod => !pod.spec.nodeName && isLive(pod))) plan.delete.push(item)
  return plan
}

/** With surge a node may have two: a ready old one, and a new one that is not available yet. */
function surplusOf({ set, hash, now }: PlanInput, running: readonly PodView[]): PodView[] {
  const isNew = ({ metadata }: PodView) => metadata.labels?.[hashLabel] === hash
  const newest = running.find(isNew)
  const oldest = running.find(pod => !isNew(pod))
  const surplus = running.filter(pod => pod !== newest && pod !== oldest)
  if (!newest || !oldest) return surplus
  const isReplaced = !isPodReady(oldest) || isPodAvailable(newest, set.spec?.minReadySeconds ?? 0, now)
  return isReplaced ? [...surplus, oldest] : surplus
}
