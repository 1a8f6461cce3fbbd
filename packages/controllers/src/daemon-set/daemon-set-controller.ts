import { ControllerRevision, DaemonSet } from '@coxswain/api/apps/v1'
import { Node, Pod } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { getControllerOf, type ObjectKey } from '@coxswain/apimachinery/meta'
import { type PodView, podSelectorOf, untilPodAvailable } from '@coxswain/kinds'
import {
  defineOperator,
  type Lookup,
  type ObjectEvent,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
  slowStart,
} from '@coxswain/runtime'
import { claimObjects } from '../pods/claim.ts'
import { indexRevisions, listRevisionsFor } from '../pods/controller-revisions.ts'
import { minInterval } from '../pods/pace.ts'
import { createPod, deletePod, isNamespaceTerminating, podFromTemplate } from '../pods/pod-control.ts'
import { indexPods, listPodsFor, listPodsOf } from '../pods/pod-index.ts'
import { FailedPodBackOff } from './failed-pod-back-off.ts'
import { cleanUpHistory, syncHistory } from './history.ts'
import { type DaemonSetView, templateFor } from './placement.ts'
import { type Plan, type PlanInput, planPods } from './plan.ts'
import { planRollingUpdate } from './rolling-update.ts'
import { writeStatus } from './status.ts'

/** The largest number of pods created or deleted in one reconciliation. */
const burst = 250

/** Runs one pod on every node that a DaemonSet selects. */
export function createDaemonSetController(): Operator {
  return defineOperator('daemonset-controller', operator => {
    const backOff = new FailedPodBackOff()
    indexPods(operator)
    indexRevisions(operator)
    operator
      .controller('daemonset')
      .for(DaemonSet)
      .owns(Pod)
      .owns(ControllerRevision, { predicates: [({ type }) => type === 'delete'] })
      .watches(Pod, (pod, lookup) => (getControllerOf(pod) ? [] : setsFor(pod, lookup)))
      .watches(Node, (_, lookup) => lookup.list(DaemonSet).map(keyOf), { predicates: [matters] })
      .options({ eventSource: 'daemonset-controller', concurrency: 5, minInterval })
      .reconcile(context => reconcile(context, backOff))
  })
}

const keyOf = ({ metadata }: DaemonSetView): ObjectKey => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

/** Only a node's labels and taints matter. */
function matters(event: ObjectEvent<Node>): boolean {
  if (event.type !== 'update') return true
  const { old, object } = event
  return (
    !deepEqual(old.metadata.labels ?? {}, object.metadata.labels ?? {}) ||
    !deepEqual(old.spec?.taints ?? [], object.spec?.taints ?? [])
  )
}

function setsFor({ metadata }: PodView, lookup: Lookup): ObjectKey[] {
  const { namespace = '', labels } = metadata
  const sets = lookup.list(DaemonSet, { namespace })
  return sets.filter(set => podSelectorOf(set).matches(labels)).map(keyOf)
}

async function reconcile(context: ReconcileContext, backOff: FailedPodBackOff): Promise<ReconcileResult> {
  const { client, key, events, clock } = context
  const set = await client.get(DaemonSet, key)
  if (!set) return
  const { matchLabels = {}, matchExpressions = [] } = set.spec?.selector ?? {}
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
    events.warning(set, 'SelectingAll', message)
    return
  }
  // Its revisions may be deleted already, so the status would be wrong.
  if (set.metadata.deletionTimestamp) return
  const selector = podSelectorOf(set)
  const claim = { client, ownerKind: DaemonSet, owner: set, selector }
  const known = await claimObjects(
    { ...claim, kind: ControllerRevision },
    await listRevisionsFor(client, set),
  )
  await claimObjects({ ...claim, kind: Pod }, await listPodsFor(client, set))
  const listPods = async () =>
    (await listPodsOf(client, set.metadata.uid)).filter(({ metadata }) => selector.matches(metadata.labels))
  const history = await syncHistory(client, set, known, await listPods())
  const { items: nodes } = await client.list(Node)
  const look = async (): Promise<PlanInput> => ({
    set,
    nodes,
    pods: await listPods(),
    hash: history.hash,
    now: clock.now(),
  })
  const finished = new FinishedPods(context, set, backOff)
  let failure: unknown
  try {
    await applyPlan(context, set, history.hash, planPods(await look(), finished.mayGo))
    if (set.spec?.updateStrategy?.type !== 'OnDelete')
      await applyPlan(context, set, history.hash, planRollingUpdate(await look()))
    await cleanUpHistory(client, set, history, await listPods())
  } catch (error) {
    failure = error
  }
  const input = await look()
  await writeStatus(client, input)
  if (failure !== undefined && !isNamespaceTerminating(failure)) throw failure
  const minReady = set.spec?.minReadySeconds ?? 0
  const wait = minReady > 0 ? untilPodAvailable(input.pods, minReady, input.now) : undefined
  const next = Math.min(wait ?? Number.POSITIVE_INFINITY, finished.next)
  return Number.isFinite(next) ? requeueAfter(Math.max(1, next)) : undefined
}

/** Deletes failed and succeeded pods, failed ones with back-off. */
class FinishedPods {
  /** Milliseconds until the next pod may be deleted. */
  next: number = Number.POSITIVE_INFINITY
  readonly #context: ReconcileContext
  readonly #set: DaemonSetView
  readonly #backOff: FailedPodBackOff

  constructor(context: ReconcileContext, set: DaemonSetView, backOff: FailedPodBackOff) {
    this.#context = context
    this.#set = set
    this.#backOff = backOff
  }

  readonly mayGo = ({ metadata, status }: PodView, node: string): boolean => {
    const { events, clock } = this.#context
    const name = `${metadata.namespace}/${metadata.name}`
    if (status?.phase === 'Succeeded') {
      const message = `Found succeeded daemon pod ${name} on node ${node}, will try to delete it`
      events.normal(this.#set, 'SucceededDaemonPod', message)
      return true
    }
    const key = `${this.#set.metadata.uid}/${this.#set.status?.observedGeneration ?? 0}/${node}`
    const now = clock.monotonic()
    const left = this.#backOff.left(key, now)
    if (left > 0) {
      this.next = Math.min(this.next, left)
      return false
    }
    this.#backOff.note(key, now)
    const message = `Found failed daemon pod ${name} on node ${node}, will try to kill it`
    events.warning(this.#set, 'FailedDaemonPod', message)
    return true
  }
}

async function applyPlan(
  context: ReconcileContext,
  set: DaemonSetView,
  hash: string,
  plan: Plan,
): Promise<void> {
  const owner = { kind: DaemonSet, object: set }
  const nodes = plan.create.slice(0, burst)
  const made = await slowStart(nodes.length, index =>
    createPod(context, owner, podFromTemplate(owner, templateFor(set, nodes[index] as string, hash))),
  )
  const victims = plan.delete.slice(0, burst)
  const deleted = await Promise.allSettled(victims.map(pod => deletePod(context, owner, pod)))
  if (made.error !== undefined) throw made.error
  const failed = deleted.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  if (failed) throw failed.reason
}
