import type { DeviceTaint, DeviceToleration } from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { findUntoleratedTaint } from '@coxswain/kinds'

type TaintView = DeepReadonly<DeviceTaint>
type TolerationView = DeepReadonly<DeviceToleration>

/** Whether a request puts up with all that a device has against being used. */
export function isTolerated(
  taints: readonly TaintView[] = [],
  tolerations: readonly TolerationView[] = [],
): boolean {
  return !findUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute'])
}
