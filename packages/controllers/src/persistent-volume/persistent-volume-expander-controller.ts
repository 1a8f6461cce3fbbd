import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { formatKey } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { localPathProvisioner } from './local-path-provisioner.ts'
import { isMeantFor, provisionedBy, requestOf, sizeOf } from './volumes.ts'

/** Expands local-path volumes; reports that all others need an external resizer. */
export function createPersistentVolumeExpanderController(): Operator {
  return defineOperator('persistentvolume-expander-controller', operator => {
    operator
      .controller('persistentvolume-expander')
      .for(PersistentVolumeClaim)
      .watches(PersistentVolume, () => [])
      .options({ eventSource: 'volume_expand' })
      .reconcile(reconcile)
  })
}

async function reconcile({ client, key, events }: ReconcileContext): Promise<void> {
  const claim = await client.get(PersistentVolumeClaim, key)
  if (claim?.status?.phase !== 'Bound' || claim.metadata.deletionTimestamp) return
  const { storage } = claim.status.capacity ?? {}
  const desired = requestOf(claim)
  if (storage === undefined || desired.compare(parseQuantity(storage)) <= 0) return
  const volume = await client.get(PersistentVolume, { name: claim.spec?.volumeName ?? '' })
  if (!volume || !isMeantFor(volume, claim))
    throw new Error(`persistent Volume is not bound to PVC being updated : ${formatKey(key)}`)
  if (volume.metadata.annotations?.[provisionedBy] !== localPathProvisioner) {
    events.normal(claim, 'ExternalExpanding', 'waiting for an external controller to expand this PVC')
    return
  }
  // A directory has no size of its own, so only the objects are updated. The volume first, to be safe in a crash.
  if (sizeOf(volume).compare(desired) < 0) {
    const capacity = { ...volume.spec?.capacity, storage: desired.toString() }
    await client.update(PersistentVolume, { ...volume, spec: { ...volume.spec, capacity } })
  }
  const capacity = { ...claim.status.capacity, storage: desired.toString() }
  await client.updateStatus(PersistentVolumeClaim, { ...claim, status: { ...claim.status, capacity } })
  events.normal(claim, 'VolumeResizeSuccessful', `ExpandVolume succeeded for volume ${formatKey(key)}`)
}
