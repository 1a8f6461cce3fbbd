import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import type { ReconcileContext } from '@coxswain/runtime'
import { setVolumePhase } from './bind.ts'
import {
  boundByController,
  type ClaimView,
  isOtherVolumeMode,
  provisionedBy,
  type VolumeView,
} from './volumes.ts'

/** Updates the phase of a volume, and applies its reclaim policy when its claim is deleted. */
export async function reconcileVolume(context: ReconcileContext): Promise<void> {
  const { client, key, events } = context
  const volume = await client.get(PersistentVolume, key)
  if (!volume) return
  const reference = volume.spec?.claimRef
  // One reserved for a claim that does not exist yet is available as well.
  if (!reference?.uid) {
    await setVolumePhase(client, volume, 'Available')
    return
  }
  const claim = await findClaim(context, volume)
  if (!claim) return await release(context, volume)
  const { volumeName } = claim.spec ?? {}
  if (volumeName === volume.metadata.name) {
    await setVolumePhase(client, volume, 'Bound')
  } else if (!volumeName) {
    // The binding is in progress: the claim's side is written next.
    if (isOtherVolumeMode(volume, claim)) {
      const why = 'due to incompatible volumeMode.'
      const { name } = volume.metadata
      const of = `PersistentVolumeClaim "${claim.metadata.name}"`
      events.warning(volume, 'VolumeMismatch', `Cannot bind PersistentVolume to requested ${of} ${why}`)
      const message = `Cannot bind PersistentVolume "${name}" to requested PersistentVolumeClaim ${why}`
      events.warning(claim, 'VolumeMismatch', message)
    }
  } else if (
    volume.metadata.annotations?.[provisionedBy] !== undefined &&
    volume.spec?.persistentVolumeReclaimPolicy === 'Delete'
  ) {
    await release(context, volume)
  } else await unbind(context, volume)
}

/** The claim that a volume is bound to, by uid. Reads from the server what the cache does not have. */
async function findClaim({ client }: ReconcileContext, volume: VolumeView): Promise<ClaimView | undefined> {
  const { namespace = '', name = '', uid } = volume.spec!.claimRef!
  const key = { namespace, name }
  const cached = await client.get(PersistentVolumeClaim, key)
  if (cached?.metadata.uid === uid) return cached
  const { phase } = volume.status ?? {}
  if (!cached && (phase === 'Released' || phase === 'Failed')) return undefined
  const fresh = await client.get(PersistentVolumeClaim, key, { cached: false })
  return fresh?.metadata.uid === uid ? fresh : undefined
}

async function release(context: ReconcileContext, volume: VolumeView): Promise<void> {
  const { client, events } = context
  const { phase } = volume.status ?? {}
  if (phase !== 'Released' && phase !== 'Failed') {
    await setVolumePhase(client, volume, 'Released')
    return // its change triggers another reconciliation
  }
  const fail = async (reason: string, message: string) => {
    if (await setVolumePhase(client, volume, 'Failed', message)) events.warning(volume, reason, message)
  }
  switch (volume.spec?.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return
    case 'Recycle':
      return await fail('VolumeFailedRecycle', 'No recycler plugin found for the volume!')
    case 'Delete': {
      // Its provisioner deletes it.
      if (volume.metadata.annotations?.[provisionedBy] !== undefined) return
      const { name } = volume.metadata
      const message = `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`
      return await fail('VolumeFailedDelete', message)
    }
    default:
      return await fail('VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy')
  }
}

/** Its claim is bound to another volume: it becomes available, or waits for the claim that a user named. */
async function unbind({ client }: ReconcileContext, volume: VolumeView): Promise<void> {
  const { [boundByController]: chosen, ...annotations } = volume.metadata.annotations ?? {}
  const { claimRef, ...spec } = volume.spec!
  const { uid: _, resourceVersion: __, ...named } = claimRef ?? {}
  const free = await client.update(PersistentVolume, {
    ...volume,
    metadata: { ...volume.metadata, annotations },
    spec: chosen === undefined ? { ...spec, claimRef: named } : spec,
  })
  await setVolumePhase(client, free, 'Available')
}
