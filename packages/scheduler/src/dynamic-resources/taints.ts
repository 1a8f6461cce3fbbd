import type { DeviceTaint, DeviceToleration } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

type TaintView = DeepReadonly<DeviceTaint>
type TolerationView = DeepReadonly<DeviceToleration>

/** Whether a request puts up with all that a device has against being used. */
export function isTolerated(
  taints: readonly TaintView[] = [],
  tolerations: readonly TolerationView[] = [],
): boolean {
  return taints.every(
    taint =>
      (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') ||
      tolerations.some(toleration => tolerates(toleration, taint)),
  )
}

function tolerates(toleration: TolerationView, taint: TaintView): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  if (toleration.key && toleration.key !== taint.key) return false
  return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '')
}
