import { Node, Pod } from '@coxswain/api/core/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import { isPodTerminal, nodeReadyCondition, type PodView } from '@coxswain/kinds'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { type Disruption, markPod } from '../pods/disruption.ts'

/** Options of {@link createPodGarbageCollector}. */
export interface PodGarbageCollectorOptions {
  /** Finished pods beyond this number are deleted, oldest first; 0 keeps all. @default 12500 */
  readonly terminatedPodThreshold?: number
}

/** Milliseconds between two rounds. */
const period = 20_000
/** Milliseconds that a node has to be missing before its pods are deleted. */
const quarantine = 40_000
const outOfService = 'node.kubernetes.io/out-of-service'
const nodeDeleted: Disruption = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }

/** Deletes pods that no other controller would: surplus finished ones, and those that no kubelet will ever terminate. */
export function createPodGarbageCollector(options: PodGarbageCollectorOptions = {}): Operator {
  const { terminatedPodThreshold: threshold = 12_500 } = options
  return defineOperator('pod-garbage-collector-controller', operator => {
    /** Since when nodes with pods are missing, on the monotonic clock. */
    const missing = new Map<string, number>()
    operator
      .controller('pod-garbage-collector')
      .timer(period, () => [{ name: 'pods' }])
      .reconcile(context => collect(context, threshold, missing))
  })
}

async function collect(
  context: ReconcileContext,
  threshold: number,
  missing: Map<string, number>,
): Promise<void> {
  const { client } = context
  const pods = (await client.list(Pod)).items
  const nodes = new Map((await client.list(Node)).items.map(node => [node.metadata.name, node]))
  const deletedNodes = await findDeletedNodes(context, pods, nodes, missing)
  const toDelete = new Map<string, { readonly pod: PodView; readonly disruption?: Disruption }>()
  const add = (pod: PodView, disruption?: Disruption) =>
    toDelete.set(pod.metadata.uid, { pod, ...(disruption && { disruption }) })
  for (const pod of chooseFinished(pods, threshold)) add(pod)
  for (const pod of pods) {
    const { nodeName = '' } = pod.spec
    const isTerminating = pod.metadata.deletionTimestamp !== undefined
    const node = nodes.get(nodeName)
    const isOut = node?.spec?.taints?.some(({ key }) => key === outOfService)
    if (deletedNodes.has(nodeName)) add(pod, nodeDeleted)
    else if (isTerminating && nodeName === '') add(pod)
    else if (isTerminating && node && isOut && nodeReadyCondition(node)?.status !== 'True') add(pod)
  }
  for (const { pod, disruption } of toDelete.values()) await forceDelete(context, pod, disruption)
}

/** The nodes that have been missing for long enough, confirmed by the server. */
async function findDeletedNodes(
  { client, clock }: ReconcileContext,
  pods: readonly PodView[],
  nodes: ReadonlyMap<string, unknown>,
  missing: Map<string, number>,
): Promise<ReadonlySet<string>> {
  const named = new Set(pods.map(({ spec }) => spec.nodeName ?? ''))
  for (const name of missing.keys()) if (!named.has(name) || nodes.has(name)) missing.delete(name)
  const now = clock.monotonic()
  const deletedNodes = new Set<string>()
  for (const name of named) {
    if (name === '' || nodes.has(name)) continue
    const since = missing.get(name) ?? now
    missing.set(name, since)
    if (now - since < quarantine) continue
    missing.delete(name)
    if (!(await client.get(Node, { name }, { cached: false }))) deletedNodes.add(name)
  }
  return deletedNodes
}

/** Evicted ones first, then the oldest. */
function chooseFinished(pods: readonly PodView[], threshold: number): readonly PodView[] {
  const finished = threshold > 0 ? pods.filter(isPodTerminal) : []
  const isEvicted = ({ status }: PodView) => status?.phase === 'Failed' && status.reason === 'Evicted'
  const keyOf = (pod: PodView) =>
    `${isEvicted(pod) ? 0 : 1} ${pod.metadata.creationTimestamp} ${pod.metadata.name}`
  const order = finished.length > threshold ? finished.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) : []
  return order.slice(0, Math.max(0, finished.length - threshold))
}

/** Marks the pod as failed first: other controllers need its final phase, which its kubelet can no longer report. */
async function forceDelete(
  context: ReconcileContext,
  pod: PodView,
  disruption: Disruption | undefined,
): Promise<void> {
  const { client, log } = context
  const { namespace = '', name, uid, deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  try {
    if (!isPodTerminal(pod))
      await markPod(context, pod, { phase: 'Failed', ...(disruption && { disruption }) })
    // Pods with finalizers remain, terminating.
    if (deletionTimestamp && deletionGracePeriodSeconds === 0) return
    await client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } })
  } catch (error) {
    if (!isNotFound(error)) log.warn('failed to delete a pod', { namespace, name, error })
  }
}
