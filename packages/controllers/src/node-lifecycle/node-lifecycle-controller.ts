import { Lease } from '@coxswain/api/coordination/v1'
import { Node, Pod } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import { isPodActive, type NodeView, nodeReadyCondition, podCondition } from '@coxswain/kinds'
import {
  defineOperator,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { indexPodsByNode, listPodsOn } from '../pods/pod-index.ts'
import { desiredTaints, type Eviction, isEvicting } from './taints.ts'
import { computeZoneStates, zoneOf } from './zones.ts'

const leaseNamespace = 'kube-node-lease'
const monitorPeriod = 5_000

/** Options of {@link createNodeLifecycleController}. */
export interface NodeLifecycleOptions {
  /** Milliseconds without a heartbeat after which a node is unreachable. @default 50000 */
  readonly gracePeriod?: number
  /** The same for a node that has never sent one. @default 60000 */
  readonly startupGracePeriod?: number
  /** Milliseconds between evictions from two nodes of one zone. @default 10000 */
  readonly evictionInterval?: number
}

/** When a node's last heartbeat was observed, on our monotonic clock: the node's clock may be wrong. */
interface Health {
  readonly sign: string
  readonly seenAt: number
}

/** State between reconciliations. */
interface Memory {
  readonly health: Map<string, Health>
  /** When pods were last evicted from a node, by zone. */
  readonly evictions: Map<string, number>
  /** Whether no node was ready at the last check. */
  isPartitioned: boolean
  /** The nodes that an event was recorded for, by name. */
  readonly registered: Map<string, NodeView>
}

/** Monitors nodes: taints them according to their conditions, and detects unreachable ones. */
export function createNodeLifecycleController(options: NodeLifecycleOptions = {}): Operator {
  const { gracePeriod = 50_000, startupGracePeriod = 60_000, evictionInterval = 10_000 } = options
  return defineOperator('node-lifecycle-controller', operator => {
    const memory: Memory = {
      health: new Map(),
      evictions: new Map(),
      isPartitioned: false,
      registered: new Map(),
    }
    indexPodsByNode(operator)
    operator
      .controller('node-lifecycle')
      .for(Node)
      // Only cached: a lease is renewed more often than it has to be checked.
      .watches(Lease, () => [])
      .timer(monitorPeriod)
      .options({ eventSource: 'node-controller', concurrency: 8 })
      .reconcile(async context => {
        const node = await context.client.get(Node, context.key)
        recordNodeEvent(context, node, memory)
        if (!node) {
          memory.health.delete(context.key.name)
          return
        }
        const isKnown = nodeReadyCondition(node) !== undefined
        const watched = await monitorHealth(context, node, memory, isKnown ? gracePeriod : startupGracePeriod)
        await markPods(context, watched)
        const labelled = await writeLabels(context, watched)
        return await writeTaints(context, labelled, memory, evictionInterval)
      })
  })
}

/** Records an event once when a node is registered or removed; a recreated node counts as another. */
function recordNodeEvent(
  { events, key }: ReconcileContext,
  node: NodeView | undefined,
  memory: Memory,
): void {
  const { name } = key
  const known = memory.registered.get(name)
  if (known?.metadata.uid === node?.metadata.uid) return
  if (known) events.normal(known, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`)
  if (node) {
    events.normal(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`)
    memory.registered.set(name, node)
  } else memory.registered.delete(name)
}

/** The conditions that only a kubelet can report. */
const vital: readonly string[] = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** Marks a node without heartbeats as unknown. */
async function monitorHealth(
  { client, clock, events }: ReconcileContext,
  node: NodeView,
  { health }: Memory,
  grace: number,
): Promise<NodeView> {
  const { name } = node.metadata
  const lease = await client.get(Lease, { namespace: leaseNamespace, name })
  const condition = nodeReadyCondition(node)
  const sign = `${lease?.spec?.renewTime} ${condition?.lastHeartbeatTime}`
  const known = health.get(name)
  const now = clock.monotonic()
  if (known?.sign !== sign) {
    health.set(name, { sign, seenAt: now })
    return node
  }
  if (now - known.seenAt <= grace || condition?.status === 'Unknown') return node
  const time = formatTime(clock.now())
  const present = node.status?.conditions ?? []
  const silent = present.map(before =>
    !vital.includes(before.type) || before.status === 'Unknown'
      ? before
      : {
          ...before,
          status: 'Unknown' as const,
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime: time,
        },
  )
  const never = vital
    .filter(type => !present.some(found => found.type === type))
    .map(type => ({
      type,
      status: 'Unknown' as const,
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: node.metadata.creationTimestamp,
      lastTransitionTime: time,
    }))
  const updated = await client.updateStatus(Node, {
    ...node,
    status: { ...node.status, conditions: [...silent, ...never] },
  } as NodeView)
  if (condition?.status === 'True')
    events.normal(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`)
  return updated
}

/** Marks the pods of an unreachable node as not ready; a kubelet that reports NotReady updates its pods itself. */
async function markPods({ client, clock, events }: ReconcileContext, node: NodeView): Promise<void> {
  if (nodeReadyCondition(node)?.status !== 'Unknown') return
  for (const pod of await listPodsOn(client, node.metadata.name)) {
    if (!isPodActive(pod) || podCondition(pod, 'Ready')?.status !== 'True') continue
    const { namespace = '', name, uid } = pod.metadata
    const time = formatTime(clock.now())
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: time }
    try {
      await client.patch(
        Pod,
        { namespace, name },
        { metadata: { uid }, status: { conditions: [condition] } },
        { type: 'strategic', subresource: 'status' },
      )
      events.warning(pod, 'NodeNotReady', 'Node is not ready')
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

/** Renamed labels, which are kept under both names. */
const renamed: readonly (readonly [from: string, to: string])[] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
]

async function writeLabels({ client, key }: ReconcileContext, node: NodeView): Promise<NodeView> {
  const { metadata } = node
  const present = metadata.labels ?? {}
  const stale = renamed.filter(([from, to]) => present[from] !== undefined && present[to] !== present[from])
  if (stale.length === 0) return node
  const labels = Object.fromEntries(stale.map(([from, to]) => [to, present[from]!]))
  return await client.patch(Node, key, { metadata: { uid: metadata.uid, labels } }, { type: 'merge' })
}

async function writeTaints(
  context: ReconcileContext,
  node: NodeView,
  memory: Memory,
  interval: number,
): Promise<ReconcileResult> {
  const { client, clock, key } = context
  const present = node.spec?.taints ?? []
  const isReady = nodeReadyCondition(node)?.status === 'True'
  const plan = isReady
    ? ({ eviction: 'never' } as const)
    : await planEviction(context, node, memory, interval)
  const desired = desiredTaints(node, formatTime(clock.now()), plan.eviction)
  if (!deepEqual(desired, present)) {
    if (isEvicting(desired) && !isEvicting(present)) memory.evictions.set(zoneOf(node), clock.monotonic())
    const patch = {
      metadata: { uid: node.metadata.uid, resourceVersion: node.metadata.resourceVersion },
      spec: { taints: desired },
    }
    await client.patch(Node, key, patch, { type: 'merge' })
  }
  return plan.wait !== undefined && !isEvicting(desired) ? requeueAfter(plan.wait) : undefined
}

/** Whether and when pods may be evicted from a node that is not ready. */
async function planEviction(
  { client, clock }: ReconcileContext,
  node: NodeView,
  memory: Memory,
  interval: number,
): Promise<{ readonly eviction: Eviction; readonly wait?: number }> {
  const zones = computeZoneStates((await client.list(Node)).items)
  const now = clock.monotonic()
  if (memory.isPartitioned && zones)
    for (const [name, { sign }] of memory.health) memory.health.set(name, { sign, seenAt: now })
  memory.isPartitioned = zones === undefined
  if (!zones) return { eviction: 'never' }
  const zone = zoneOf(node)
  const { slowness } = zones.get(zone) ?? { slowness: 1 }
  if (slowness === Number.POSITIVE_INFINITY) return { eviction: 'later' }
  const last = memory.evictions.get(zone)
  const wait = last === undefined ? 0 : last + interval * slowness - now
  return wait <= 0 ? { eviction: 'now' } : { eviction: 'later', wait }
}
