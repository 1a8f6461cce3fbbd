import { CSIDriver, CSIStorageCapacity, type StorageClass } from '@coxswain/api/storage/v1'
import type { DeepReadonly, LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { parseAmount } from '@coxswain/kinds'
import type { NodeInfo } from '../node-info.ts'
import type { ClusterEvent, SchedulerHandle } from '../plugin.ts'
import type { ClaimView } from './pod-claims.ts'

type CapacityView = DeepReadonly<CSIStorageCapacity>

/**
 * Whether a volume for the claim can be provisioned for the node. Drivers that do not publish their capacity are assumed to have
 * enough.
 */
export function hasStorageCapacity(
  claim: ClaimView,
  { metadata, provisioner }: DeepReadonly<StorageClass>,
  node: NodeInfo,
  handle: SchedulerHandle,
): boolean {
  const request = claim.spec?.resources?.requests?.storage
  if (request === undefined) return true
  if (!handle.get(CSIDriver, { name: provisioner })?.spec?.storageCapacity) return true
  const size = parseAmount(request).value
  return handle.list(CSIStorageCapacity).some(capacity => {
    const limit = limitOf(capacity)
    return (
      capacity.storageClassName === metadata.name &&
      limit !== undefined &&
      limit >= size &&
      capacity.nodeTopology !== undefined &&
      labelSelectorAsSelector(capacity.nodeTopology as LabelSelector).matches(node.labels)
    )
  })
}

/** The maximum volume size is more precise than the total capacity. */
function limitOf({ maximumVolumeSize, capacity }: CapacityView): bigint | undefined {
  const text = maximumVolumeSize ?? capacity
  return text === undefined ? undefined : parseAmount(text).value
}

/** Whether an event increases the size of volumes that can be provisioned. */
export function isCapacityGained({ resource, action, old, object }: ClusterEvent): boolean {
  if (resource !== 'CSIStorageCapacity' || action === 'delete') return false
  if (old === undefined) return true
  const [before, now] = [limitOf(old as CapacityView), limitOf(object as CapacityView)]
  return now !== undefined && (before === undefined || now > before)
}
