import { Lease } from '@coxswain/api/coordination/v1'
import { Node, Pod } from '@coxswain/api/core/v1'
import { deepEqual, formatTime, isNotFound } from '@coxswain/apimachinery'
import {
  defineOperator,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { indexPodsByNode, listPodsOn } from '../pods/pod-index.ts'
import { isActive, podCondition } from '../pods/pod-state.ts'
import { type NodeView, readyCondition, wantedTaints } from './taints.ts'

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
  /** The nodes that people were told of, by name. */
  readonly registered: Map<string, NodeView>
}

/** Watches over nodes: taints them as their conditions are, and notices when one falls silent. */
export function createNodeLifecycleController(options: NodeLifecycleOptions = {}): Operator {
  const { gracePeriod = 50_000, startupGracePeriod = 60_000, evictionInterval = 10_000 } = options
  return defineOperator('node-lifecycle-controller', operator => {
    const memory: Memory = { health: new Map(), evictions: new Map(), registered: new Map() }
    indexPodsByNode(operator)
    operator
      .controller('node-lifecycle')
      .for(Node)
      .watches(Lease, ({ metadata }) =>
        metadata.namespace === leaseNamespace ? [{ name: metadata.name }] : [],
      )
      .timer(monitorPeriod)
      .options({ eventSource: 'node-controller', concurrency: 8, busy: true })
      .reconcile(async context => {
        const node = await context.client.get(Node, context.key)
        tellOfNode(context, node, memory)
        if (!node) {
          memory.health.delete(context.key.name)
          return
        }
        const isKnown = readyCondition(node) !== undefined
        const watched = await watchOver(context, node, memory, isKnown ? gracePeriod : startupGracePeriod)
        await markPods(context, watched)
        return await writeTaints(context, watched, memory, evictionInterval)
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

/** Marks a node that has been silent for too long. */
async function watchOver(
  { client, clock, events }: ReconcileContext,
  node: NodeView,
  { health }: Memory,
  grace: number,
): Promise<NodeView> {
  const { name } = node.metadata
  const lease = await client.get(Lease, { namespace: leaseNamespace, name })
  const condition = readyCondition(node)
  const sign = `${lease?.spec?.renewTime} ${condition?.lastHeartbeatTime}`
  const known = health.get(name)
  const now = clock.monotonic()
  if (known?.sign !== sign) {
    health.set(name, { sign, seenAt: now })
    return node
  }
  if (now - known.seenAt <= grace || condition?.status === 'Unknown') return node
  const time = formatTime(clock.now())
  const types = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']
  const present = node.status?.conditions ?? []
  const silent = types.map(type => {
    const before = present.find(found => found.type === type)
    if (before?.status === 'Unknown') return before
    return {
      type,
      status: 'Unknown' as const,
      reason: before ? 'NodeStatusUnknown' : 'NodeStatusNeverUpdated',
      message: before ? 'Kubelet stopped posting node status.' : 'Kubelet never posted node status.',
      lastHeartbeatTime: before?.lastHeartbeatTime ?? node.metadata.creationTimestamp,
      lastTransitionTime: time,
    }
  })
  const others = present.filter(({ type }) => !types.includes(type))
  const updated = await client.updateStatus(Node, {
    ...node,
    status: { ...node.status, conditions: [...others, ...silent] },
  } as NodeView)
  events.normal(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`)
  return updated
}

/** Pods on a node that is not ready are not ready either. */
async function markPods({ client, clock, events }: ReconcileContext, node: NodeView): Promise<void> {
  const state = readyCondition(node)?.status
  if (state === undefined || state === 'True') return
  for (const pod of await listPodsOn(client, node.metadata.name)) {
    if (!isActive(pod) || podCondition(pod, 'Ready')?.status !== 'True') continue
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

async function writeTaints(
  { client, clock, key }: ReconcileContext,
  node: NodeView,
  { evictions }: Memory,
  interval: number,
): Promise<ReconcileResult> {
  const zone = node.metadata.labels?.['topology.kubernetes.io/zone'] ?? ''
  const now = clock.monotonic()
  const last = evictions.get(zone)
  const mayEvict = last === undefined || now - last >= interval
  const present = node.spec?.taints ?? []
  const wanted = wantedTaints(node, formatTime(clock.now()), mayEvict)
  const isEvicting = (taints: typeof wanted | typeof present) =>
    taints.some(({ effect, key: taint }) => effect === 'NoExecute' && taint.startsWith('node.kubernetes.io/'))
  if (!deepEqual(wanted, present)) {
    if (isEvicting(wanted) && !isEvicting(present)) evictions.set(zone, now)
    const patch = {
      metadata: { uid: node.metadata.uid, resourceVersion: node.metadata.resourceVersion },
      spec: { taints: wanted },
    }
    await client.patch(Node, key, patch, { type: 'merge' })
  }
  const isHeldBack = !mayEvict && readyCondition(node)?.status !== 'True' && !isEvicting(wanted)
  return isHeldBack ? requeueAfter(interval - (now - (last ?? now))) : undefined
}
