import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { formatKey } from '@coxswain/apimachinery/meta'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { defineOperator, type Operator, type ReconcileContext } from '@coxswain/runtime'
import { localPathProvisioner } from './local-path-provisioner.ts'
import { isMeantFor, provisionedBy, requestOf, sizeOf } from './volumes.ts'

/** Lets volumes grow that are folders; of all others it says that somebody else has to. */
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
  const wanted = requestOf(claim)
  if (storage === undefined || wanted.compare(parseQuantity(storage)) <= 0) return
  const volume = await client.get(PersistentVolume, { name: claim.spec?.volumeName ?? '' })
  if (!volume || !isMeantFor(volume, claim))
    throw new Error(`persistent Volume is not bound to PVC being updated : ${formatKey(key)}`)
  if (volume.metadata.annotations?.[provisionedBy] !== localPathProvisioner) {
    events.normal(claim, 'ExternalExpanding', 'waiting for an external controller to expand this PVC')
    return
  }
  // A folder has no size of its own: saying so is all there is to do. The volume first, so that a crash does no harm.
  if (sizeOf(volume).compare(wanted) < 0) {
    const capacity = { ...volume.spec?.capacity, storage: wanted.toString() }
    await client.update(PersistentVolume, { ...volume, spec: { ...volume.spec, capacity } })
  }
  const capacity = { ...claim.status.capacity, storage: wanted.toString() }
  await client.updateStatus(PersistentVolumeClaim, { ...claim, status: { ...claim.status, capacity } })
  events.normal(claim, 'VolumeResizeSuccessful', `ExpandVolume succeeded for volume ${formatKey(key)}`)
}
