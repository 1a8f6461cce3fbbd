import { deepEqual } from '@coxswain/apimachinery/json'
import { findStatusCondition } from '@coxswain/apimachinery/meta'
import { type ReconcileResult, requeueAfter } from '@coxswain/runtime'
import { type ConditionView, removeCondition, setCondition } from './conditions.ts'
import type { ReplicaSetView } from './revisions.ts'
import type { Rollout } from './rollout.ts'
import { availableOf, sizeOf, sum } from './scaling.ts'
import { type DeploymentView, desiredReplicas, maxUnavailable, progressDeadline } from './strategy.ts'

interface Status {
  readonly observedGeneration: number
  readonly replicas: number
  readonly updatedReplicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly unavailableReplicas: number
  readonly terminatingReplicas?: number
  readonly collisionCount?: number
  readonly conditions: readonly ConditionView[]
}

function computeStatus(rollout: Rollout): Status {
  const { deployment, all, newReplicaSet } = rollout
  const available = sum(all, availableOf)
  const isEnough = available >= desiredReplicas(deployment) - maxUnavailable(deployment)
  const terminating = countTerminating(all)
  const collisionCount = deployment.status?.collisionCount
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: newReplicaSet?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(all, sizeOf) - available),
    ...(terminating !== undefined && { terminatingReplicas: terminating }),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: setCondition(
      deployment.status?.conditions ?? [],
      isEnough
        ? {
            type: 'Available',
            status: 'True',
            reason: 'MinimumReplicasAvailable',
            message: 'Deployment has minimum availability.',
          }
        : {
            type: 'Available',
            status: 'False',
            reason: 'MinimumReplicasUnavailable',
            message: 'Deployment does not have minimum availability.',
          },
      rollout.now,
    ),
  }
}

/** A ReplicaSet that was not reconciled yet has none. Undefined if one does not report the count. */
function countTerminating(sets: readonly ReplicaSetView[]): number | undefined {
  let total = 0
  for (const { status } of sets) {
    if (status?.terminatingReplicas === undefined && status?.observedGeneration) return undefined
    total += status?.terminatingReplicas ?? 0
  }
  return total
}

/** Whether all pods are updated and available, and no old one is left. */
export function isComplete(deployment: DeploymentView, status: Partial<Status> = {}): boolean {
  const desired = desiredReplicas(deployment)
  return (
    status.updatedReplicas === desired &&
    status.replicas === desired &&
    status.availableReplicas === desired &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

/** Writes only the counts. */
export async function writeCounts(rollout: Rollout): Promise<void> {
  await write(rollout, computeStatus(rollout))
}

/** Writes the counts and the progress of the rollout. Requeues when the progress deadline may expire. */
export async function writeProgress(rollout: Rollout, now: number): Promise<ReconcileResult> {
  const { deployment, newReplicaSet, all } = rollout
  const status = computeStatus(rollout)
  let { conditions } = status
  const deadline = progressDeadline(deployment)
  const known = rollout.condition('Progressing')
  if (deadline === undefined) conditions = removeCondition(conditions, 'Progressing')
  else if (!(status.replicas === status.updatedReplicas && known?.reason === 'NewReplicaSetAvailable'))
    conditions = withProgress(rollout, status, deadline, now)
  const failure = findFailure(newReplicaSet, all)
  conditions = failure
    ? setCondition(conditions, failure as never, rollout.now)
    : removeCondition(conditions, 'ReplicaFailure')
  const written = { ...status, conditions }
  if (await write(rollout, written)) return
  if (deadline === undefined || !known || isComplete(deployment, written)) return
  if (known.reason === 'ProgressDeadlineExceeded') return
  const left = Date.parse(known.lastUpdateTime ?? '') + deadline - now
  return requeueAfter(Math.max(1_000, left + 1_000))
}

function withProgress(rollout: Rollout, status: Status, deadline: number, now: number): ConditionView[] {
  const { deployment, newReplicaSet } = rollout
  const { conditions } = status
  const what = newReplicaSet
    ? `ReplicaSet ${JSON.stringify(newReplicaSet.metadata.name)}`
    : `Deployment ${JSON.stringify(deployment.metadata.name)}`
  const set = (state: 'True' | 'False', reason: string, message: string, from = conditions) =>
    setCondition(
      from,
      { type: 'Progressing', status: state, reason, message: `${what} ${message}` },
      rollout.now,
    )
  if (isComplete(deployment, status))
    return set('True', 'NewReplicaSetAvailable', 'has successfully progressed.')
  const known = rollout.condition('Progressing')
  if (isProgressing(deployment, status)) {
    const made = set(
      'True',
      'ReplicaSetUpdated',
      'is progressing.',
      removeCondition(conditions, 'Progressing'),
    )
    if (known?.status !== 'True') return made
    return made.map(condition =>
      condition.type === 'Progressing' && known.lastTransitionTime
        ? { ...condition, lastTransitionTime: known.lastTransitionTime }
        : condition,
    )
  }
  if (known && isTimedOut(known, deadline, now))
    return set('False', 'ProgressDeadlineExceeded', 'has timed out progressing.')
  return [...conditions]
}

/** Whether there are more new or fewer old pods than the status reported. */
function isProgressing({ status: before = {} }: DeploymentView, now: Status): boolean {
  const oldNow = now.replicas - now.updatedReplicas
  const oldBefore = (before.replicas ?? 0) - (before.updatedReplicas ?? 0)
  return (
    now.updatedReplicas > (before.updatedReplicas ?? 0) ||
    oldNow < oldBefore ||
    now.readyReplicas > (before.readyReplicas ?? 0) ||
    now.availableReplicas > (before.availableReplicas ?? 0)
  )
}

function isTimedOut(known: ConditionView, deadline: number, now: number): boolean {
  if (known.reason === 'NewReplicaSetAvailable') return false
  if (known.reason === 'ProgressDeadlineExceeded') return true
  return Date.parse(known.lastUpdateTime ?? '') + deadline < now
}

function findFailure(
  newReplicaSet: ReplicaSetView | undefined,
  all: readonly ReplicaSetView[],
): ConditionView | undefined {
  const of = (set: ReplicaSetView | undefined) =>
    findStatusCondition(set?.status?.conditions, 'ReplicaFailure') as ConditionView | undefined
  return of(newReplicaSet) ?? all.map(of).find(found => found !== undefined)
}

/** Resolves with whether the status changed. */
async function write(rollout: Rollout, status: Status): Promise<boolean> {
  const before = rollout.deployment.status ?? {}
  if (deepEqual(withoutZeros(status), withoutZeros(before))) return false
  await rollout.writeStatus(status)
  return true
}

/** The server omits counts of zero, except the one that may be unknown. */
function withoutZeros(status: object): object {
  return Object.fromEntries(
    Object.entries(status).filter(([name, value]) => value !== 0 || name === 'terminatingReplicas'),
  )
}
