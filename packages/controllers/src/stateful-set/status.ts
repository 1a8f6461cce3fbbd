import { StatefulSet } from '@coxswain/api/apps/v1'
import { isPodAvailable, isPodReady, type PodView } from '@coxswain/kinds'
import type { OperatorClient } from '@coxswain/runtime'
import { podRevision, replicasOf, type SetView } from './identity.ts'
import type { Revisions } from './revisions.ts'

type Status = NonNullable<SetView['status']>

/** What is said of a set that has these pods. */
export function computeStatus(
  set: SetView,
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
  const wanted = replicasOf(set)
  const isComplete = [status.replicas, status.readyReplicas, status.updatedReplicas].every(
    count => count === wanted,
  )
  if (set.spec?.updateStrategy?.type === 'OnDelete' || !isComplete) return status
  return { ...status, currentReplicas: status.updatedReplicas, currentRevision: update.name }
}

/** Zero and nothing are the same; what is not compared is written when something else is. */
const compared = [
  'replicas',
  'readyReplicas',
  'availableReplicas',
  'currentReplicas',
  'updatedReplicas',
  'currentRevision',
  'updateRevision',
] as const

export async function writeStatus(client: OperatorClient, set: SetView, status: Status): Promise<void> {
  const before: Partial<Status> = set.status ?? {}
  const isSame =
    (before.observedGeneration ?? 0) >= (status.observedGeneration ?? 0) &&
    compared.every(name => (before[name] ?? 0) === (status[name] ?? 0))
  if (!isSame) await client.updateStatus(StatefulSet, { ...set, status } as SetView)
}
