import { StatefulSet } from '@coxswain/api/apps/v1'
import { isPodAvailable, isPodReady, type PodView } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import { podRevision, replicasOf, type StatefulSetView } from './identity.ts'
import type { Revisions } from './revisions.ts'

type Status = NonNullable<StatefulSetView['status']>

/** The status of a StatefulSet with these pods. */
export function computeStatus(
  set: StatefulSetView,
  pods: readonly PodView[],
  { current, update, collisions }: Revisions,
  now: number,
): Status {
  const running = pods.filter(pod => pod.status?.phase === 'Running' && isPodReady(pod))
  const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp)
  const countOf = (revision: string) => staying.filter(pod => podRevision(pod) === revision).length
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: running.length,
    availableReplicas: running.filter(pod => isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length,
    currentReplicas: countOf(current.name),
    updatedReplicas: countOf(update.name),
    currentRevision: current.name,
    updateRevision: update.name,
    collisionCount: collisions,
  }
  const desired = replicasOf(set)
  const isComplete = [status.replicas, status.readyReplicas, status.updatedReplicas].every(
    count => count === desired,
  )
  if (set.spec?.updateStrategy?.type === 'OnDelete' || !isComplete) return status
  return { ...status, currentReplicas: status.updatedReplicas, currentRevision: update.name }
}

/** Zero and absent are equal; fields that are not compared are written along with a change. */
const compared = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'currentReplicas',
  'updatedReplicas',
  'currentRevision',
  'updateRevision',
] as const

export async function writeStatus(
  client: OperatorClient,
  set: StatefulSetView,
  status: Status,
): Promise<void> {
  const before: Partial<Status> = set.status ?? {}
  const isSame =
    (before.observedGeneration ?? 0) >= (status.observedGeneration ?? 0) &&
    compared.every(name => (before[name] ?? 0) === (status[name] ?? 0))
  if (!isSame) await client.updateStatus(StatefulSet, { ...set, status } as StatefulSetView)
}
