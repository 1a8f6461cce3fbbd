import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { OperatorClient } from '@coxswain/runtime'
import { bindCompleted, boundByController, type ClaimView, isMeantFor, type VolumeView } from './volumes.ts'

type VolumePhase = NonNullable<NonNullable<VolumeView['status']>['phase']>
type ClaimPhase = NonNullable<NonNullable<ClaimView['status']>['phase']>

/**
 * Writes both sides of a binding: the volume's claimRef and phase, the claim's volumeName and phase. If it is interrupted, the
 * next reconciliation finds the volume reserved for the claim and continues.
 */
export async function bind(client: OperatorClient, volume: VolumeView, claim: ClaimView): Promise<void> {
  const bound = await bindVolume(client, volume, claim)
  await setVolumePhase(client, bound, 'Bound')
  const { name } = bound.metadata
  const { annotations = {} } = claim.metadata
  const isChosen = claim.spec?.volumeName === name
  let current = claim
  if (!isChosen || annotations[bindCompleted] === undefined) {
    const added = { [bindCompleted]: 'yes', ...(!isChosen && { [boundByController]: 'yes' }) }
    current = await client.update(PersistentVolumeClaim, {
      ...claim,
      metadata: { ...claim.metadata, annotations: { ...annotations, ...added } },
      spec: { ...claim.spec, volumeName: name },
    })
  }
  await setClaimPhase(client, current, 'Bound', bound)
}

async function bindVolume(client: OperatorClient, volume: VolumeView, claim: ClaimView): Promise<VolumeView> {
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const isMeant = isMeantFor(volume, claim)
  if (isMeant && volume.spec?.claimRef?.uid === uid) return volume
  const { annotations = {} } = volume.metadata
  return await client.update(PersistentVolume, {
    ...volume,
    metadata: {
      ...volume.metadata,
      ...(!isMeant && { annotations: { ...annotations, [boundByController]: 'yes' } }),
    },
    spec: {
      ...volume.spec,
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        ...(namespace !== undefined && { namespace }),
        name,
        uid,
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
    },
  })
}

/** Resolves with whether it changed. */
export async function setVolumePhase(
  client: OperatorClient,
  volume: VolumeView,
  phase: VolumePhase,
  message?: string,
): Promise<boolean> {
  const { message: _, ...status } = volume.status ?? {}
  if (volume.status?.phase === phase && (volume.status.message ?? '') === (message ?? '')) return false
  await client.updateStatus(PersistentVolume, {
    ...volume,
    status: { ...status, phase, ...(message && { message }) },
  })
  return true
}

/** Resolves with whether anything changed. */
export async function setClaimPhase(
  client: OperatorClient,
  claim: ClaimView,
  phase: ClaimPhase,
  volume?: VolumeView,
): Promise<boolean> {
  const { accessModes, capacity, currentVolumeAttributesClassName, ...others } = claim.status ?? {}
  const modes = volume?.spec?.accessModes
  // Once bound, the capacity belongs to the resizer.
  const size = claim.status?.phase === 'Bound' && capacity ? capacity : volume?.spec?.capacity
  const attributesClass = volume?.spec?.volumeAttributesClassName
  const status = {
    ...others,
    phase,
    ...(volume && modes && { accessModes: modes }),
    ...(volume && size && { capacity: size }),
    ...(volume && attributesClass && { currentVolumeAttributesClassName: attributesClass }),
  }
  if (deepEqual(status, claim.status ?? {})) return false
  await client.updateStatus(PersistentVolumeClaim, { ...claim, status })
  return true
}
