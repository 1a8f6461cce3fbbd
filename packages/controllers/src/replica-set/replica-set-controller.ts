import { ReplicaSet } from '@coxswain/api/apps/v1'
import { Pod, ReplicationController } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import { type DeepReadonly, getControllerOf } from '@coxswain/apimachinery/meta'
import { type Selector, selectorFromLabels } from '@coxswain/apimachinery/selectors'
import { formatTime } from '@coxswain/apimachinery/time'
import {
  isPodActive,
  isPodAvailable,
  isPodReady,
  isPodTerminating,
  type PodView,
  podSelectorOf,
  untilPodAvailable,
} from '@coxswain/kinds'
import {
  defineOperator,
  type MapFunction,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
  slowStart,
} from '@coxswain/runtime'
import { claimObjects } from '../pods/claim.ts'
import { minInterval } from '../pods/pace.ts'
import { createPod, deletePod, isNamespaceTerminating, podFromTemplate } from '../pods/pod-control.ts'
import { indexPods, listPodsFor, listPodsOf } from '../pods/pod-index.ts'
import { choosePodsToDelete } from './pods-to-delete.ts'

/** The largest number of pods created or deleted in one reconciliation. */
const burst = 500

type ReplicaSetView = DeepReadonly<ReplicaSet>

/** How ReplicaSets and ReplicationControllers differ. */
interface Flavour {
  readonly kind: typeof ReplicaSet | typeof ReplicationController
  selectorOf(set: ReplicaSetView): Selector
  readonly eventSource: string
  /** Whether the status has `terminatingReplicas`. */
  readonly countsTerminating: boolean
}

const replicaSets: Flavour = {
  kind: ReplicaSet,
  eventSource: 'replicaset-controller',
  selectorOf: podSelectorOf,
  countsTerminating: true,
}

const replicationControllers: Flavour = {
  kind: ReplicationController,
  eventSource: 'replication-controller',
  selectorOf: ({ spec }) => selectorFromLabels((spec?.selector ?? {}) as unknown as Record<string, string>),
  countsTerminating: false,
}

/** Maintains the number of pods that a ReplicaSet specifies. */
export function createReplicaSetController(): Operator {
  return defineController('replicaset', replicaSets)
}

/** Maintains the number of pods that a ReplicationController specifies. */
export function createReplicationControllerController(): Operator {
  return defineController('replicationcontroller', replicationControllers)
}

function defineController(name: string, flavour: Flavour): Operator {
  return defineOperator(`${name}-controller`, operator => {
    indexPods(operator)
    operator
      .controller(name)
      .for(flavour.kind as typeof ReplicaSet)
      .owns(Pod)
      .watches(Pod, orphansTo(flavour))
      .options({ eventSource: flavour.eventSource, concurrency: 5, minInterval })
      .reconcile(context => reconcile(context, flavour))
  })
}

/** Maps an orphaned pod to every ReplicaSet that selects it. */
function orphansTo({ kind, selectorOf }: Flavour): MapFunction<Pod> {
  return (pod, lookup) => {
    if (getControllerOf(pod) || Object.keys(pod.metadata.labels ?? {}).length === 0) return []
    const { namespace = '' } = pod.metadata
    const sets = lookup.list(kind as typeof ReplicaSet, { namespace })
    return sets
      .filter(set => selectorOf(set).matches(pod.metadata.labels))
      .map(({ metadata }) => ({ namespace, name: metadata.name }))
  }
}

async function reconcile(context: ReconcileContext, flavour: Flavour): Promise<ReconcileResult> {
  const { client, key, clock } = context
  const kind = flavour.kind as typeof ReplicaSet
  const set = await client.get(kind, key)
  if (!set) return
  const selector = flavour.selectorOf(set)
  const candidates = await listPodsFor(client, set)
  const claim = { client, kind: Pod, ownerKind: kind, owner: set, selector }
  const active = await claimObjects(claim, candidates.filter(isPodActive))
  let failure: unknown
  let pods: readonly PodView[] = active
  if (!set.metadata.deletionTimestamp) {
    const managed = await manage(context, flavour, set, active)
    failure = managed.error
    pods = managed.pods
  }
  const terminating = candidates.filter(
    pod =>
      isPodTerminating(pod) && getControllerOf(pod) !== undefined && selector.matches(pod.metadata.labels),
  )
  await writeStatus(context, set, { flavour, pods, terminating: terminating.length, failure })
  if (failure) {
    if (isNamespaceTerminating(failure)) return
    throw failure
  }
  const minReady = set.spec?.minReadySeconds ?? 0
  const wait = minReady > 0 ? untilPodAvailable(pods, minReady, clock.now()) : undefined
  return wait === undefined ? undefined : requeueAfter(Math.max(1, wait))
}

/** Creates missing pods or deletes surplus ones. */
async function manage(
  context: ReconcileContext,
  { kind }: Flavour,
  set: ReplicaSetView,
  active: readonly PodView[],
): Promise<{ readonly pods: readonly PodView[]; readonly error?: unknown }> {
  const owner = { kind, object: set }
  const desired = set.spec?.replicas ?? 1
  const missing = Math.min(desired - active.length, burst)
  if (missing > 0) {
    const pod = podFromTemplate(owner, set.spec!.template!)
    const made: PodView[] = []
    const { error } = await slowStart(missing, async () => {
      made.push(await createPod(context, owner, pod))
    })
    return { pods: [...active, ...made], ...(error !== undefined && { error }) }
  }
  const surplus = Math.min(active.length - desired, burst)
  if (surplus <= 0) return { pods: active }
  const related = await findRelated(context, set, active)
  const podsToDelete = choosePodsToDelete(active, { related, count: surplus, now: context.clock.now() })
  const results = await Promise.allSettled(podsToDelete.map(pod => deletePod(context, owner, pod)))
  const deleted = new Set(podsToDelete.filter((_, index) => results[index]?.status === 'fulfilled'))
  const failed = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  const pods = active.filter(pod => !deleted.has(pod))
  return { pods, ...(failed && { error: failed.reason }) }
}

/** The pods of all ReplicaSets with the same controller: the old and new ones of a Deployment. */
async function findRelated(
  { client }: ReconcileContext,
  set: ReplicaSetView,
  active: readonly PodView[],
): Promise<readonly PodView[]> {
  const controller = getControllerOf(set)
  const { namespace = '' } = set.metadata
  if (!controller) return active
  const { items: sets } = await client.list(ReplicaSet, { namespace })
  const family = sets.filter(other => getControllerOf(other)?.uid === controller.uid)
  return (await Promise.all(family.map(({ metadata }) => listPodsOf(client, metadata.uid)))).flat()
}

interface Observed {
  readonly flavour: Flavour
  readonly pods: readonly PodView[]
  readonly terminating: number
  readonly failure: unknown
}

async function writeStatus(
  { client, clock }: ReconcileContext,
  set: ReplicaSetView,
  { flavour, pods, terminating, failure }: Observed,
): Promise<void> {
  const { kind, countsTerminating } = flavour
  const now = clock.now()
  const labels = selectorFromLabels(set.spec?.template?.metadata?.labels ?? {})
  const minReady = set.spec?.minReadySeconds ?? 0
  const conditions = conditionsAfter(set, pods.length, failure, formatTime(now))
  const { observedGeneration: _, conditions: __, ...kept } = set.status ?? {}
  const status = {
    ...kept,
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter(({ metadata }) => labels.matches(metadata.labels)).length,
    readyReplicas: pods.filter(isPodReady).length,
    availableReplicas: pods.filter(pod => isPodAvailable(pod, minReady, now)).length,
    ...(countsTerminating && { terminatingReplicas: terminating }),
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  }
  if (deepEqual(withoutZeros(status), withoutZeros(set.status ?? {}))) return
  await client.updateStatus(kind as typeof ReplicaSet, { ...set, status })
}

/** The server omits counts of zero, except those that are required or may be unknown. */
function withoutZeros(status: object): object {
  return Object.fromEntries(
    Object.entries(status).filter(
      ([name, value]) => value !== 0 || name === 'replicas' || name === 'terminatingReplicas',
    ),
  )
}

function conditionsAfter(set: ReplicaSetView, pods: number, failure: unknown, now: string) {
  const conditions = set.status?.conditions ?? []
  const isKnown = conditions.some(({ type }) => type === 'ReplicaFailure')
  if (failure === undefined) return conditions.filter(({ type }) => type !== 'ReplicaFailure')
  if (isKnown) return conditions
  const reason = pods < (set.spec?.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete'
  const message = (failure as Error).message
  return [
    ...conditions,
    { type: 'ReplicaFailure', status: 'True' as const, lastTransitionTime: now, reason, message },
  ]
}
