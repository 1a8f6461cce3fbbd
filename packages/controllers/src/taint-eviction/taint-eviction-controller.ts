import { Node, Pod, type Taint } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { isNotFound } from '@coxswain/apimachinery/status'
import { type PodView, tolerates } from '@coxswain/kinds'
import {
  defineOperator,
  type EventSubject,
  type Operator,
  type Predicate,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { type Disruption, markPod } from '../pods/disruption.ts'
import { indexPodsByNode, listPodKeysOn } from '../pods/pod-index.ts'

type TaintView = DeepReadonly<Taint>

/** When a pod has to be evicted, on the monotonic clock. */
interface Deadline {
  readonly uid: string
  readonly at: number
}

const tainted: Disruption = {
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
}

/** Evicts pods from nodes with NoExecute taints that they do not tolerate, or no longer tolerate. */
export function createTaintEvictionController(): Operator {
  return defineOperator('taint-eviction-controller', operator => {
    const deadlines = new Map<string, Deadline>()
    indexPodsByNode(operator)
    operator
      .controller('taint-eviction')
      .for(Pod, { predicates: [placeChanged] })
      .watches(Node, ({ metadata }, lookup) => listPodKeysOn(lookup, metadata.name), {
        predicates: [taintsChanged],
      })
      .options({ eventSource: 'taint-eviction-controller', concurrency: 8 })
      .reconcile(context => reconcile(context, deadlines))
  })
}

const placeChanged: Predicate<Pod> = event =>
  event.type !== 'update' ||
  event.old.spec.nodeName !== event.object.spec.nodeName ||
  event.old.metadata.uid !== event.object.metadata.uid ||
  !deepEqual(event.old.spec.tolerations ?? [], event.object.spec.tolerations ?? [])

const evicting = ({ spec }: DeepReadonly<Node>): TaintView[] =>
  (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')

const taintsChanged: Predicate<Node> = event =>
  event.type !== 'update' || !deepEqual(evicting(event.old), evicting(event.object))

async function reconcile(
  context: ReconcileContext,
  deadlines: Map<string, Deadline>,
): Promise<ReconcileResult> {
  const { client, key, clock, events } = context
  const id = `${key.namespace}/${key.name}`
  const cancel = () => {
    if (!deadlines.delete(id)) return
    events.normal(subjectOf(key), 'TaintManagerEviction', `Cancelling deletion of Pod ${id}`)
  }
  const pod = await client.get(Pod, key)
  const node = pod?.spec.nodeName ? await client.get(Node, { name: pod.spec.nodeName }) : undefined
  const taints = node ? evicting(node) : []
  const uid = pod?.metadata.uid ?? ''
  if (deadlines.get(id)?.uid !== uid) cancel()
  if (!pod || taints.length === 0) {
    cancel()
    return
  }
  const tolerationPeriod = tolerationPeriodOf(pod, taints)
  if (tolerationPeriod === 0 || tolerationPeriod === Number.POSITIVE_INFINITY) cancel()
  if (tolerationPeriod === Number.POSITIVE_INFINITY) return
  const now = clock.monotonic()
  const at = deadlines.get(id)?.at ?? now + tolerationPeriod
  if (at > now) {
    deadlines.set(id, { uid, at })
    return requeueAfter(at - now)
  }
  await evict(context, pod)
  deadlines.delete(id)
}

/** Milliseconds for which a pod tolerates all of these taints. */
function tolerationPeriodOf({ spec }: PodView, taints: readonly TaintView[]): number {
  let tolerationPeriod = Number.POSITIVE_INFINITY
  for (const taint of taints) {
    // The first matching toleration counts.
    const toleration = spec.tolerations?.find(each => tolerates(each, taint))
    if (!toleration) return 0
    const { tolerationSeconds = Number.POSITIVE_INFINITY } = toleration
    tolerationPeriod = Math.min(tolerationPeriod, Math.max(0, Number(tolerationSeconds)) * 1_000)
  }
  return tolerationPeriod
}

async function evict(context: ReconcileContext, pod: PodView): Promise<void> {
  const { client, key, events } = context
  const message = `Marking for deletion Pod ${key.namespace}/${key.name}`
  events.normal(subjectOf(key), 'TaintManagerEviction', message)
  try {
    await markPod(context, pod, { disruption: tainted })
    await client.delete(Pod, key, { preconditions: { uid: pod.metadata.uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function subjectOf({ namespace = '', name }: ReconcileContext['key']): EventSubject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } } as EventSubject
}
