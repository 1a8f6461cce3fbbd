import { Pod } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { isPodActive, type PodView, podCondition } from '@coxswain/kinds'
import { type ReconcileContext, type ReconcileResult, requeueAfter } from '@coxswain/runtime'

/** A pod that was to be disrupted and still is not on its way out after this long, is not going to be. */
const staleAfter = 120_000

/** Whether a pod is marked as one that will be disrupted, by anybody but a kubelet, which may take its time. */
export function isMarked(pod: PodView): boolean {
  const condition = podCondition(pod, 'DisruptionTarget')
  return condition?.status === 'True' && condition.reason !== 'TerminationByKubelet' && isPodActive(pod)
}

/** Takes back the mark of a pod that was not disrupted after all. */
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
