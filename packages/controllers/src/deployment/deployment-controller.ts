import { Deployment, ReplicaSet } from '@coxswain/api/apps/v1'
import { Pod } from '@coxswain/api/core/v1'
import { getControllerOf, type ObjectKey } from '@coxswain/apimachinery/meta'
import { isPodTerminal, podSelectorOf } from '@coxswain/kinds'
import {
  defineOperator,
  type Lookup,
  type Operator,
  type ReconcileContext,
  type ReconcileResult,
} from '@coxswain/runtime'
import { claimObjects } from '../pods/claim.ts'
import { minInterval } from '../pods/pace.ts'
import { indexPods, listPodsOf } from '../pods/pod-index.ts'
import {
  annotatedDesiredReplicas,
  annotationsAfterRollback,
  isSameTemplate,
  previousRevision,
  type ReplicaSetView,
  revisionOf,
  rollbackAnnotation,
  rollbackRevision,
  withoutHash,
} from './revisions.ts'
import { newReplicaSetSize, scaleDownOldReplicaSets } from './rolling-update.ts'
import { Rollout } from './rollout.ts'
import { byCreation, isActive, isScaled, scaleProportionally, sizeOf } from './scaling.ts'
import { isComplete, writeCounts, writeProgress } from './status.ts'
import { type DeploymentView, desiredReplicas, isRolling, progressDeadline } from './strategy.ts'

/** Rolls out Deployments: one ReplicaSet per template; the new one is scaled up while the old ones are scaled down. */
export function createDeploymentController(): Operator {
  return defineOperator('deployment-controller', operator => {
    indexPods(operator)
    operator
      .controller('deployment')
      .for(Deployment)
      .owns(ReplicaSet)
      .watches(ReplicaSet, (set, lookup) => (getControllerOf(set) ? [] : deploymentsSelecting(set, lookup)))
      // With the Recreate strategy, a rollout waits until the last old pod is deleted.
      .watches(
        Pod,
        (pod, lookup) => recreatingDeploymentOf(pod.metadata.namespace, getControllerOf(pod)?.name, lookup),
        {
          predicates: [({ type }) => type === 'delete'],
        },
      )
      .options({ eventSource: 'deployment-controller', concurrency: 5, minInterval })
      .reconcile(reconcile)
  })
}

function deploymentsSelecting({ metadata }: ReplicaSetView, lookup: Lookup): ObjectKey[] {
  const { namespace = '' } = metadata
  return lookup
    .list(Deployment, { namespace })
    .filter(deployment => podSelectorOf(deployment).matches(metadata.labels))
    .map(deployment => ({ namespace, name: deployment.metadata.name }))
}

function recreatingDeploymentOf(namespace = '', setName: string | undefined, lookup: Lookup): ObjectKey[] {
  if (setName === undefined) return []
  const set = lookup.get(ReplicaSet, { namespace, name: setName })
  const owner = set && getControllerOf(set)
  const deployment = owner && lookup.get(Deployment, { namespace, name: owner.name })
  return deployment && !isRolling(deployment) ? [{ namespace, name: owner.name }] : []
}

async function reconcile(context: ReconcileContext): Promise<ReconcileResult> {
  const { client, key, events, clock } = context
  const deployment = await client.get(Deployment, key)
  if (!deployment) return
  const { matchLabels = {}, matchExpressions = [] } = deployment.spec?.selector ?? {}
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) {
    const message = 'This deployment is selecting all pods. A non-empty selector is required.'
    events.warning(deployment, 'SelectingAll', message)
    return
  }
  const selector = podSelectorOf(deployment)
  const { items } = await client.list(ReplicaSet, { namespace: key.namespace ?? '' })
  const claim = { client, kind: ReplicaSet, ownerKind: Deployment, owner: deployment, selector }
  const rollout = new Rollout(context, deployment, await claimObjects(claim, items))
  if (deployment.metadata.deletionTimestamp) return await writeCounts(rollout)
  await syncPausedCondition(rollout)
  if (deployment.spec?.paused) return await scale(rollout)
  const rollback = rollbackRevision(deployment)
  if (rollback !== undefined) return await rollBack(context, rollout, rollback)
  await rollout.syncNewReplicaSet({ create: false })
  if (isScaled(rollout.deployment, rollout.all)) return await scale(rollout)
  if (isRolling(deployment)) await roll(rollout)
  else await recreate(context, rollout)
  return await writeProgress(rollout, clock.now())
}

/** Pausing suspends the progress deadline. */
async function syncPausedCondition(rollout: Rollout): Promise<void> {
  const { deployment } = rollout
  if (progressDeadline(deployment) === undefined) return
  const reason = rollout.condition('Progressing')?.reason
  if (reason === 'ProgressDeadlineExceeded') return
  const isRecorded = reason === 'DeploymentPaused'
  if (deployment.spec?.paused === true && !isRecorded)
    await setProgressing(rollout, 'DeploymentPaused', 'Deployment is paused')
  else if (!deployment.spec?.paused && isRecorded)
    await setProgressing(rollout, 'DeploymentResumed', 'Deployment is resumed')
}

async function setProgressing(rollout: Rollout, reason: string, message: string): Promise<void> {
  await rollout.setConditions({ type: 'Progressing', status: 'Unknown', reason, message })
}

/** Distributes a change of `replicas` over the existing ReplicaSets, also while paused; creates none. */
async function scale(rollout: Rollout): Promise<void> {
  const newReplicaSet = await rollout.syncNewReplicaSet({ create: false })
  const { deployment, all, old } = rollout
  const desired = desiredReplicas(deployment)
  const active = all.filter(isActive)
  const latest = [...old].sort((a, b) => byCreation(b, a))[0]
  const only = active.length === 1 ? active[0] : active.length === 0 ? (newReplicaSet ?? latest) : undefined
  if (only) await rollout.resize([{ set: only, to: desired }], { annotate: true })
  else if (newReplicaSet && isSaturated(newReplicaSet, desired))
    await rollout.resize(old.filter(isActive).map(set => ({ set, to: 0 })))
  else if (isRolling(deployment))
    await rollout.resize(scaleProportionally(deployment, all), { annotate: true })
  if (deployment.spec?.paused) await rollout.cleanUp()
  await writeCounts(rollout)
}

function isSaturated(set: ReplicaSetView, desired: number): boolean {
  return (
    sizeOf(set) === desired &&
    annotatedDesiredReplicas(set) === desired &&
    (set.status?.availableReplicas ?? 0) === desired
  )
}

async function roll(rollout: Rollout): Promise<void> {
  const newReplicaSet = (await rollout.syncNewReplicaSet({ create: true }))!
  const { deployment } = rollout
  const desired = desiredReplicas(deployment)
  const size = sizeOf(newReplicaSet)
  const to = size > desired ? desired : newReplicaSetSize(deployment, rollout.all, size)
  if (await rollout.resize([{ set: newReplicaSet, to }])) return
  if (await rollout.resize(scaleDownOldReplicaSets(deployment, newReplicaSet, rollout.old))) return
  if (isComplete(deployment, deployment.status)) await rollout.cleanUp()
}

/** Scales all old ReplicaSets to zero and waits for their pods to be deleted before it creates new ones. */
async function recreate({ client }: ReconcileContext, rollout: Rollout): Promise<void> {
  await rollout.syncNewReplicaSet({ create: false })
  const shrinking = rollout.old.filter(isActive).map(set => ({ set, to: 0 }))
  if (await rollout.resize(shrinking)) return
  for (const set of rollout.old) {
    if ((set.status?.replicas ?? 0) > 0) return
    const pods = await listPodsOf(client, set.metadata.uid)
    if (pods.some(pod => !isPodTerminal(pod))) return
  }
  const newReplicaSet = (await rollout.syncNewReplicaSet({ create: true }))!
  await rollout.resize([{ set: newReplicaSet, to: desiredReplicas(rollout.deployment) }])
  if (isComplete(rollout.deployment, rollout.deployment.status)) await rollout.cleanUp()
}

/** Rolls back as the annotation of deprecated clients requests; kubectl restores the old template itself. */
async function rollBack(
  { client, events }: ReconcileContext,
  rollout: Rollout,
  asked: bigint,
): Promise<void> {
  await rollout.syncNewReplicaSet({ create: true })
  const { deployment, all } = rollout
  const { [rollbackAnnotation]: _asked, ...annotations } = deployment.metadata.annotations ?? {}
  const revision = asked || previousRevision(all)
  const target = revision === 0n ? undefined : all.find(set => revisionOf(set) === revision)
  const clear = async (changes: Partial<DeploymentView>) => {
    await client.update(Deployment, { ...deployment, ...changes } as DeploymentView)
  }
  const metadata = { ...deployment.metadata, annotations }
  const { name } = deployment.metadata
  if (!target) {
    const what = revision === 0n ? 'last revision' : 'the revision to rollback to'
    events.warning(deployment, 'DeploymentRollbackRevisionNotFound', `Unable to find ${what}.`)
    return await clear({ metadata })
  }
  if (isSameTemplate(target.spec?.template, deployment.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment ${JSON.stringify(name)}`
    events.warning(deployment, 'DeploymentRollbackTemplateUnchanged', message)
    return await clear({ metadata })
  }
  const { [rollbackAnnotation]: _, ...after } = annotationsAfterRollback(deployment, target)
  await clear({
    metadata: { ...deployment.metadata, annotations: after },
    spec: { ...deployment.spec, template: withoutHash(target.spec?.template) },
  } as Partial<DeploymentView>)
  const message = `Rolled back deployment ${JSON.stringify(name)} to revision ${revision}`
  events.normal(deployment, 'DeploymentRollback', message)
}
