import type { Taint } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { type NodeView, nodeReadyCondition } from '@coxswain/kinds'

type TaintView = DeepReadonly<Taint>

const prefix = 'node.kubernetes.io'
export const notReady: string = `${prefix}/not-ready`
export const unreachable: string = `${prefix}/unreachable`
const unschedulable = `${prefix}/unschedulable`

/** The taint for a condition with that status. */
const taintOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  __proto__: null as never,
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: `${prefix}/memory-pressure` },
  DiskPressure: { True: `${prefix}/disk-pressure` },
  NetworkUnavailable: { True: `${prefix}/network-unavailable` },
  PIDPressure: { True: `${prefix}/pid-pressure` },
}

const ownNoSchedule = new Set([unschedulable, ...Object.values(taintOf).flatMap(of => Object.values(of))])
const ownNoExecute = new Set([notReady, unreachable])

/**
 * Whether pods may be evicted from a node that is not ready: now, later (an existing taint is kept), or not at all (it is
 * removed).
 */
export type Eviction = 'now' | 'later' | 'never'

/** The taints that a node should have: those of other owners, and those for its conditions. Existing ones keep their position. */
export function desiredTaints(node: NodeView, now: string, eviction: Eviction): TaintView[] {
  const present = node.spec?.taints ?? []
  const own: Pick<TaintView, 'key' | 'effect'>[] = []
  for (const { type, status } of node.status?.conditions ?? []) {
    const key = taintOf[type]?.[status]
    if (key !== undefined) own.push({ key, effect: 'NoSchedule' })
  }
  if (node.spec?.unschedulable) own.push({ key: unschedulable, effect: 'NoSchedule' })
  const evicting = taintOf.Ready?.[nodeReadyCondition(node)?.status ?? '']
  const mayEvict = eviction === 'now' || (eviction === 'later' && isEvicting(present))
  if (evicting !== undefined && mayEvict) own.push({ key: evicting, effect: 'NoExecute' })
  const isSame = (a: Pick<TaintView, 'key' | 'effect'>) => (b: Pick<TaintView, 'key' | 'effect'>) =>
    a.key === b.key && a.effect === b.effect
  const kept = present.filter(taint => !isOwn(taint) || own.some(isSame(taint)))
  const added = own.filter(taint => !present.some(isSame(taint))).map(taint => ({ ...taint, timeAdded: now }))
  return [...kept, ...added]
}

const isOwn = ({ key, effect }: TaintView) =>
  (effect === 'NoSchedule' && ownNoSchedule.has(key)) || (effect === 'NoExecute' && ownNoExecute.has(key))

/** Whether pods are being evicted because the node is not ready. */
export function isEvicting(taints: readonly TaintView[]): boolean {
  return taints.some(({ key, effect }) => effect === 'NoExecute' && ownNoExecute.has(key))
}
