import { Pod } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { isPodActive, type PodView, podCondition } from '@coxswain/kinds'
import { type ReconcileContext, type ReconcileResult, requeueAfter } from '@coxswain/runtime'

/** A pod marked for disruption that is not terminating after this time is assumed to stay. */
const staleAfter = 120_000

/** Whether a pod is marked for disruption by a component other than the kubelet, which may take longer. */
export function isMarked(pod: PodView): boolean {
  const condition = podCondition(pod, 'DisruptionTarget')
  return condition?.status === 'True' && condition.reason !== 'TerminationByKubelet' && isPodActive(pod)
}

/** Resets the DisruptionTarget condition of a pod that was not disrupted. */
export async function clearStaleMark({ client, clock, key }: ReconcileContext): Promise<ReconcileResult> {
  const pod = await client.get(Pod, key)
  if (!pod || !isMarked(pod)) return
  const marked = Date.parse(podCondition(pod, 'DisruptionTarget')?.lastTransitionTime ?? '')
  const left = Number.isNaN(marked) ? 0 : marked + staleAfter - clock.now()
  if (left > 0) return requeueAfter(left)
  const conditions = (pod.status?.conditions ?? []).map(condition =>
    condition.type === 'DisruptionTarget'
      ? {
          type: 'DisruptionTarget',
          status: 'False' as const,
          lastTransitionTime: formatTime(clock.now()),
          observedGeneration: pod.metadata.generation ?? 0,
        }
      : condition,
  )
  await client.updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } } as PodView)
}
