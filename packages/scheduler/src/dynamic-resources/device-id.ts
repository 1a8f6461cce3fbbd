import type {
  Device,
  DeviceClass,
  DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceSlice,
} from '@coxswain/api/resource/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export type ClaimView = DeepReadonly<ResourceClaim>
export type SliceView = DeepReadonly<ResourceSlice>
export type DeviceView = DeepReadonly<Device>
export type ClassView = DeepReadonly<DeviceClass>

/** `driver/pool/device`. Unique, because only pool names may contain slashes. */
export type DeviceId = string

export function deviceIdOf({
  driver,
  pool,
  device,
}: Pick<DeviceRequestAllocationResult, 'driver' | 'pool' | 'device'>): DeviceId {
  return `${driver}/${pool}/${device}`
}

/** `namespace/name`, for messages. */
export function nameOf({ metadata }: ClaimView): string {
  return `${metadata.namespace}/${metadata.name}`
}
