import type { Node, NodeCondition, Taint } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery'

export type NodeView = DeepReadonly<Node>
type TaintView = DeepReadonly<Taint>

const prefix = 'node.kubernetes.io'
export const notReady: string = `${prefix}/not-ready`
export const unreachable: string = `${prefix}/unreachable`
const unschedulable = `${prefix}/unschedulable`

/** The taint of a condition with that status. */
const taintOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: `${prefix}/memory-pressure` },
  DiskPressure: { True: `${prefix}/disk-pressure` },
  NetworkUnavailable: { True: `${prefix}/network-unavailable` },
  PIDPressure: { True: `${prefix}/pid-pressure` },
}

const ownNoSchedule = new Set([unschedulable, ...Object.values(taintOf).flatMap(of => Object.values(of))])
const ownNoExecute = new Set([notReady, unreachable])

export function readyCondition({ status }: NodeView): DeepReadonly<NodeCondition> | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}

/**
 * The taints a node should have: those that others put there, and what its conditions come to. `mayEvict` says whether pods
 * may be driven out of a node that is not ready; where they may not, a taint that does so already stays.
 */
export function wantedTaints(node: NodeView, now: string, mayEvict: boolean): TaintView[] {
  const present = node.spec?.taints ?? []
  const foreign = present.filter(
    ({ key, effect }) =>
      !(effect === 'NoSchedule' && ownNoSchedule.has(key)) &&
      !(effect === 'NoExecute' && ownNoExecute.has(key)),
  )
  const keep = (key: string, effect: TaintView['effect']): TaintView =>
    present.find(taint => taint.key === key && taint.effect === effect) ?? { key, effect, timeAdded: now }
  const own: TaintView[] = []
  for (const { type, status } of node.status?.conditions ?? []) {
    const key = taintOf[type]?.[status]
    if (key !== undefined) own.push(keep(key, 'NoSchedule'))
  }
  if (node.spec?.unschedulable) own.push(keep(unschedulable, 'NoSchedule'))
  const evicting = taintOf.Ready?.[readyCondition(node)?.status ?? '']
  const isEvicting = present.some(({ key, effect }) => effect === 'NoExecute' && ownNoExecute.has(key))
  if (evicting !== undefined && (mayEvict || isEvicting)) own.push(keep(evicting, 'NoExecute'))
  return [...foreign, ...own]
}
