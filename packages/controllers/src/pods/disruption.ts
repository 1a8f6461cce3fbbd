import { Pod } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { isSameCondition, keepTransitionTime, type PodView, podCondition } from '@coxswain/kinds'
import type { ReconcileContext } from '@coxswain/runtime'

type Tools = Pick<ReconcileContext, 'client' | 'clock'>

/** Why a pod is disrupted. */
export interface Disruption {
  readonly reason: string
  readonly message: string
}

/** Sets the DisruptionTarget condition of a pod, its phase, or both. */
export async function markPod(
  { client, clock }: Tools,
  pod: PodView,
  { disruption, phase }: { readonly disruption?: Disruption; readonly phase?: 'Failed' },
): Promise<void> {
  const { namespace = '', name, uid, generation } = pod.metadata
  const observed = generation === undefined ? {} : { observedGeneration: generation }
  const conditions = disruption ? conditionsOf(pod, disruption, formatTime(clock.now()), observed) : []
  if (conditions.length === 0 && phase === undefined) return
  const status = { ...(phase && { phase, ...observed }), ...(conditions.length > 0 && { conditions }) }
  const patch = { metadata: { uid }, status }
  await client.patch(Pod, { namespace, name }, patch, { type: 'strategic', subresource: 'status' })
}

function conditionsOf(
  pod: PodView,
  { reason, message }: Disruption,
  now: string,
  observed: object,
): object[] {
  const type = 'DisruptionTarget'
  const next = { type, status: 'True', reason, message, lastTransitionTime: now, ...observed }
  if (isSameCondition(podCondition(pod, type), next)) return []
  return [keepTransitionTime(pod.status?.conditions, next)]
}
