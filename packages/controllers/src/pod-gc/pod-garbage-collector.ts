import { Node, Pod } from '@coxswain/api/core/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import { isPodTerminal, nodeReadyCondition, type PodView } from '@coxswain/kinds'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { type Disruption, markPod } from '../pods/disruption.ts'

export interface PodGarbageCollectorOptions {
  /** Finished pods beyond this many are deleted, oldest first; 0: none. @default 12500 */
  readonly terminatedPodThreshold?: number
}

/** Milliseconds between two rounds. */
const period = 20_000
/** Milliseconds that a node has to be gone before its pods are. */
const quarantine = 40_000
const outOfService = 'node.kubernetes.io/out-of-service'
const nodeGone: Disruption = { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }

/** Deletes pods that nobody else would: too many finished ones, and those that no kubelet will ever stop. */
export function createPodGarbageCollector(options: PodGarbageCollectorOptions = {}): Operator {
  const { terminatedPodThreshold: threshold = 12_500 } = options
  return defineOperator('pod-garbage-collector-controller', operator => {
    /** Since when pods are on a node that is not there, on our own clock. */
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
  const forsaken = await findForsaken(context, pods, nodes, missing)
  const doomed = new Map<string, { readonly pod: PodView; readonly disruption?: Disruption }>()
  const condemn = (pod: PodView, disruption?: Disruption) =>
    doomed.set(pod.metadata.uid, { pod, ...(disruption && { disruption }) })
  for (const pod of chooseFinished(pods, threshold)) condemn(pod)
  for (const pod of pods) {
    const { nodeName = '' } = pod.spec
    const isGoing = pod.metadata.deletionTimestamp !== undefined
    const node = nodes.get(nodeName)
    const isOut = node?.spec?.taints?.some(({ key }) => key === outOfService)
    if (forsaken.has(nodeName)) condemn(pod, nodeGone)
    else if (isGoing && nodeName === '') condemn(pod)
    else if (isGoing && node && isOut && nodeReadyCondition(node)?.status !== 'True') condemn(pod)
  }
  for (const { pod, disruption } of doomed.values()) await forceDelete(context, pod, disruption)
}

/** The nodes that have been gone for long enough, and of which the server says so too. */
async function findForsaken(
  { client, clock }: ReconcileContext,
  pods: readonly PodView[],
  nodes: ReadonlyMap<string, unknown>,
  missing: Map<string, number>,
): Promise<ReadonlySet<string>> {
  const named = new Set(pods.map(({ spec }) => spec.nodeName ?? ''))
  for (const name of missing.keys()) if (!named.has(name) || nodes.has(name)) missing.delete(name)
  const now = clock.monotonic()
  const forsaken = new Set<string>()
  for (const name of named) {
    if (name === '' || nodes.has(name)) continue
    const since = missing.get(name) ?? now
    missing.set(name, since)
    if (now - since < quarantine) continue
    missing.delete(name)
    if (!(await client.get(Node, { name }, { cached: false }))) forsaken.add(name)
  }
  return forsaken
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

/** Others look at how a pod ended: one that can no longer say so has failed. */
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
    // What is held by finalizers only is deleted as far as that goes.
    if (deletionTimestamp && deletionGracePeriodSeconds === 0) return
    await client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } })
  } catch (error) {
    if (!isNotFound(error)) log.warn('a pod could not be deleted', { namespace, name, error })
  }
}
