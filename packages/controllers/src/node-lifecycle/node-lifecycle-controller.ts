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
import { type Eviction, isEvicting, wantedTaints } from './taints.ts'
import { judgeZones, zoneOf } from './zones.ts'

const leaseNamespace = 'kube-node-lease'
const monitorPeriod = 5_000

export interface NodeLifecycleOptions {
  /** Milliseconds after which a node that gives no sign of life counts as unreachable. @default 50000 */
  readonly gracePeriod?: number
  /** The same for one that has never given any. @default 60000 */
  readonly startupGracePeriod?: number
  /** Milliseconds between two nodes of one zone that pods are driven out of. @default 10000 */
  readonly evictionInterval?: number
}

/** When a node last gave a sign of life that we saw, on our own clock: its clock may be wrong. */
interface Health {
  readonly sign: string
  readonly seenAt: number
}

/** What is known beside what is in the cluster. */
interface Memory {
  readonly health: Map<string, Health>
  /** When pods were last driven out of a node, by zone. */
  readonly evictions: Map<string, number>
  /** Whether no node was ready when it was last asked. */
  isBlind: boolean
  /** The nodes that people were told of, by name. */
  readonly registered: Map<string, NodeView>
}

/** Watches over nodes: taints them as their conditions are, and notices when one falls silent. */
export function createNodeLifecycleController(options: NodeLifecycleOptions = {}): Operator {
  const { gracePeriod = 50_000, startupGracePeriod = 60_000, evictionInterval = 10_000 } = options
  return defineOperator('node-lifecycle-controller', operator => {
    const memory: Memory = {
      health: new Map(),
      evictions: new Map(),
      isBlind: false,
      registered: new Map(),
    }
    indexPodsByNode(operator)
    operator
      .controller('node-lifecycle')
      .for(Node)
      // To have them at hand: a lease is renewed more often than it has to be looked at.
      .watches(Lease, () => [])
      .timer(monitorPeriod)
      .options({ eventSource: 'node-controller', concurrency: 8 })
      .reconcile(async context => {
        const node = await context.client.get(Node, context.key)
        tellOfNode(context, node, memory)
        if (!node) {
          memory.health.delete(context.key.name)
          return
        }
        const isKnown = nodeReadyCondition(node) !== undefined
        const watched = await watchOver(context, node, memory, isKnown ? gracePeriod : startupGracePeriod)
        await markPods(context, watched)
        const labelled = await writeLabels(context, watched)
        return await writeTaints(context, labelled, memory, evictionInterval)
      })
  })
}

/** Says that a node came or went, once; one that was made anew under the same name is another. */
function tellOfNode({ events, key }: ReconcileContext, node: NodeView | undefined, memory: Memory): void {
  const { name } = key
  const known = memory.registered.get(name)
  if (known?.metadata.uid === node?.metadata.uid) return
  if (known) events.normal(known, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`)
  if (node) {
    events.normal(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`)
    memory.registered.set(name, node)
  } else memory.registered.delete(name)
}

/** The conditions that only a kubelet can know. */
const vital: readonly string[] = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** Marks a node that has been silent for too long. */
async function watchOver(
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

/** Pods on a node that has fallen silent are not ready; one that says it is not ready can speak for its pods. */
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

/** Labels that were renamed, and are kept under both names. */
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
  const turn = isReady ? ({ eviction: 'never' } as const) : await takeTurn(context, node, memory, interval)
  const wanted = wantedTaints(node, formatTime(clock.now()), turn.eviction)
  if (!deepEqual(wanted, present)) {
    if (isEvicting(wanted) && !isEvicting(present)) memory.evictions.set(zoneOf(node), clock.monotonic())
    const patch = {
      metadata: { uid: node.metadata.uid, resourceVersion: node.metadata.resourceVersion },
      spec: { taints: wanted },
    }
    await client.patch(Node, key, patch, { type: 'merge' })
  }
  return turn.wait !== undefined && !isEvicting(wanted) ? requeueAfter(turn.wait) : undefined
}

/** Whether it is the turn of a node that is not ready to lose its pods, and when it will be. */
async function takeTurn(
  { client, clock }: ReconcileContext,
  node: NodeView,
  memory: Memory,
  interval: number,
): Promise<{ readonly eviction: Eviction; readonly wait?: number }> {
  const zones = judgeZones((await client.list(Node)).items)
  const now = clock.monotonic()
  if (memory.isBlind && zones)
    for (const [name, { sign }] of memory.health) memory.health.set(name, { sign, seenAt: now })
  memory.isBlind = zones === undefined
  if (!zones) return { eviction: 'never' }
  const zone = zoneOf(node)
  const { slowness } = zones.get(zone) ?? { slowness: 1 }
  if (slowness === Number.POSITIVE_INFINITY) return { eviction: 'later' }
  const last = memory.evictions.get(zone)
  const wait = last === undefined ? 0 : last + interval * slowness - now
  return wait <= 0 ? { eviction: 'now' } : { eviction: 'later', wait }
}
