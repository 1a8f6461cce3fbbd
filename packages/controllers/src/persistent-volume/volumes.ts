import { type PersistentVolume, type PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import type { DeepReadonly, ObjectKey } from '@coxswain/apimachinery/meta'
import { parseQuantity, type Quantity } from '@coxswain/apimachinery/quantity'
import { findDefaultStorageClass, type PodView, storageClassNameOf } from '@coxswain/kinds'
import type { OperatorBuilder, OperatorClient } from '@coxswain/runtime'

export type VolumeView = DeepReadonly<PersistentVolume>
export type ClaimView = DeepReadonly<PersistentVolumeClaim>
export type ClassView = DeepReadonly<StorageClass>

/** On a claim: both sides of its binding have been written. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed'
/** On either side: the controller chose the other one, not a user. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller'
/** On a volume: the provisioner that created it and has to delete it. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by'
/** On a claim: the provisioner that should create its volume. */
export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner'
export const betaStorageProvisioner = 'volume.beta.kubernetes.io/storage-provisioner'
/** On a claim: the node that the scheduler selected for the pod, and so for the volume. */
export const selectedNode = 'volume.kubernetes.io/selected-node'

export const keyOfClaim = ({ metadata }: ClaimView): ObjectKey => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

/** The class name of a claim or volume; empty if none. */
export function classNameOf(object: ClaimView | VolumeView): string {
  return storageClassNameOf(object) ?? ''
}

/** Whether a claim has no class yet: it gets the default one as soon as that exists. */
export function isWithoutClass(claim: ClaimView): boolean {
  return storageClassNameOf(claim) === undefined
}

/** The default StorageClass of the cluster. */
export async function findDefaultClass(client: OperatorClient): Promise<ClassView | undefined> {
  return findDefaultStorageClass((await client.list(StorageClass)).items)
}

/** Whether a volume is reserved for a claim: by its name, and by its uid if set. */
export function isMeantFor({ spec }: VolumeView, { metadata }: ClaimView): boolean {
  const reference = spec?.claimRef
  return (
    reference !== undefined &&
    reference.namespace === metadata.namespace &&
    reference.name === metadata.name &&
    (!reference.uid || reference.uid === metadata.uid)
  )
}

export const sizeOf = ({ spec }: VolumeView): Quantity => parseQuantity(spec?.capacity?.storage ?? '0')
export const requestOf = ({ spec }: ClaimView): Quantity =>
  parseQuantity(spec?.resources?.requests?.storage ?? '0')

export function hasModes({ spec: volume }: VolumeView, { spec: claim }: ClaimView): boolean {
  const modes: readonly string[] = volume?.accessModes ?? []
  return (claim?.accessModes ?? []).every(mode => modes.includes(mode))
}

export function isOtherVolumeMode({ spec: volume }: VolumeView, { spec: claim }: ClaimView): boolean {
  return (volume?.volumeMode ?? 'Filesystem') !== (claim?.volumeMode ?? 'Filesystem')
}

export function isOtherAttributesClass({ spec: volume }: VolumeView, { spec: claim }: ClaimView): boolean {
  return (volume?.volumeAttributesClassName ?? '') !== (claim?.volumeAttributesClassName ?? '')
}

/** The claim of an ephemeral volume of a pod. */
export const ephemeralClaimName = (pod: PodView, volume: string): string => `${pod.metadata.name}-${volume}`

/** The names of the claims that a pod uses. */
export function claimNamesOf(pod: PodView): string[] {
  return (pod.spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName]
    return ephemeral ? [ephemeralClaimName(pod, name)] : []
  })
}

const claimField = 'claim'
const byClaim = (pod: PodView): string[] => claimNamesOf(pod).map(name => `${pod.metadata.namespace}/${name}`)

/** Indexes pods by the claims that they use. */
export function indexPodsByClaim(operator: OperatorBuilder): void {
  operator.index(Pod, claimField, byClaim)
}

export async function listPodsWith(client: OperatorClient, claim: ClaimView): Promise<readonly PodView[]> {
  const { namespace, name } = claim.metadata
  return (await client.list(Pod, { fields: { [claimField]: `${namespace}/${name}` } })).items
}
