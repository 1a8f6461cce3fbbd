import { ControllerRevision, StatefulSet } from '@coxswain/api/apps/v1'
import { PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import {
  type ApiObject,
  type DeepReadonly,
  getControllerOf,
  type ObjectKey,
} from '@coxswain/apimachinery/meta'
import { type PodView, podSelectorOf, untilPodAvailable } from '@coxswain/kinds'
import {
  defineOperator,
  type Lookup,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
  requeueAfter,
} from '@coxswain/runtime'
import { claimObjects } from '../pods/claim.ts'
import { indexRevisions, isRevisionOf, listRevisionsFor } from '../pods/controller-revisions.ts'
import { minInterval } from '../pods/pace.ts'
import { isNamespaceTerminating } from '../pods/pod-control.ts'
import { indexPods, listPodsFor, listPodsOf } from '../pods/pod-index.ts'
import { ordinalOf, type StatefulSetView } from './identity.ts'
import { cleanUpRevisions, syncRevisions } from './revisions.ts'
import { Rollout } from './rollout.ts'
import { computeStatus, writeStatus } from './status.ts'

/** Manages pods with stable names, an order and storage of their own. */
export function createStatefulSetController(): Operator {
  return defineOperator('statefulset-controller', operator => {
    indexPods(operator)
    indexRevisions(operator)
    const onlyDeletions = { predicates: [({ type }: { readonly type: string }) => type === 'delete'] }
    operator
      .controller('statefulset')
      .for(StatefulSet)
      .owns(Pod)
      .owns(ControllerRevision, onlyDeletions)
      .watches(Pod, (pod, lookup) => (getControllerOf(pod) ? [] : setsFor(pod, lookup)))
      // A pod may wait until a claim of its predecessor is deleted.
      .watches(PersistentVolumeClaim, claimantsOf, onlyDeletions)
      .options({ eventSource: 'statefulset-controller', concurrency: 5, minInterval })
      .reconcile(reconcile)
  })
}

function setsFor(pod: PodView, lookup: Lookup): ObjectKey[] {
  const { namespace = '', labels } = pod.metadata
  return lookup
    .list(StatefulSet, { namespace })
    .filter(set => ordinalOf(set, pod) !== undefined && podSelectorOf(set).matches(labels))
    .map(({ metadata }) => ({ namespace, name: metadata.name }))
}

function claimantsOf({ metadata }: DeepReadonly<PersistentVolumeClaim>, lookup: Lookup): ObjectKey[] {
  const { namespace = '' } = metadata
  return lookup
    .list(StatefulSet, { namespace })
    .filter(set =>
      set.spec?.volumeClaimTemplates?.some(template =>
        metadata.name.startsWith(`${template.metadata?.name}-${set.metadata.name}-`),
      ),
    )
    .map(set => ({ namespace, name: set.metadata.name }))
}

async function reconcile(context: ReconcileContext): Promise<ReconcileResult> {
  const { client, key, clock } = context
  const set = await client.get(StatefulSet, key)
  if (!set) return
  const selector = podSelectorOf(set)
  const accepts = (object: DeepReadonly<ApiObject>) => ordinalOf(set, object) !== undefined
  const isMine = (object: DeepReadonly<ApiObject>) => selector.matches(object.metadata.labels)
  const claim = { client, ownerKind: StatefulSet, owner: set, selector }
  const known = await claimObjects(
    { ...claim, kind: ControllerRevision },
    (await listRevisionsFor(client, set)).filter(isMine),
  )
  await claimObjects({ ...claim, kind: Pod, accepts }, await listPodsFor(client, set))
  const listPods = async () =>
    (await listPodsOf(client, set.metadata.uid)).filter(pod => isMine(pod) && accepts(pod))
  const isTerminating = set.metadata.deletionTimestamp !== undefined
  // Its revisions may be deleted already and must not be recreated.
  if (isTerminating && !known.some(revision => isRevisionOf(revision, set.spec!.template))) return
  const revisions = await syncRevisions(client, set, known)
  const failure = isTerminating
    ? undefined
    : await caught(() => new Rollout(context, set, { revisions, listPods }).step())
  const pods = await listPods()
  const status = computeStatus(set, pods, revisions, clock.now())
  await writeStatus(client, set, status)
  await cleanUpRevisions(client, set, known, { revisions, pods })
  if (failure && !isNamespaceTerminating(failure.reason)) throw failure.reason
  return untilNextCheck(set, pods, status, clock.now())
}

/** Returns what an action throws, so that the status can be written first. */
async function caught(action: () => Promise<void>): Promise<{ readonly reason: unknown } | undefined> {
  try {
    await action()
    return undefined
  } catch (reason) {
    return { reason }
  }
}

function untilNextCheck(
  { spec }: StatefulSetView,
  pods: readonly PodView[],
  status: { readonly readyReplicas?: number; readonly availableReplicas?: number },
  now: number,
): ReconcileResult {
  const minReady = spec?.minReadySeconds ?? 0
  if (minReady === 0 || status.readyReplicas === status.availableReplicas) return
  return requeueAfter(Math.max(1, untilPodAvailable(pods, minReady, now) ?? minReady * 1_000))
}
