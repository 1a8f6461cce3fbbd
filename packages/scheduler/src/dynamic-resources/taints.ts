import type { DeviceTaint, DeviceToleration } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { findUntoleratedTaint } from '@coxswain/kinds'

type TaintView = DeepReadonly<DeviceTaint>
type TolerationView = DeepReadonly<DeviceToleration>

/** Whether a request tolerates all taints of a device. */
export function isTolerated(
  taints: readonly TaintView[] = [],
  tolerations: readonly TolerationView[] = [],
): boolean {
  return !findUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute'])
}
