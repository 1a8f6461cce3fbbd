import { PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import { defineOperator, type MapFunction, type Operator } from '@coxswain/runtime'
import { reconcileClaim } from './reconcile-claim.ts'
import { reconcileVolume } from './reconcile-volume.ts'
import {
  bindCompleted,
  type ClaimView,
  classNameOf,
  indexPodsByClaim,
  isWithoutClass,
  keyOfClaim,
  type VolumeView,
} from './volumes.ts'

const eventSource = 'persistentvolume-controller'

/** Binds claims to volumes, and reclaims volumes whose claims are deleted. */
export function createPersistentVolumeBinderController(): Operator {
  return defineOperator('persistentvolume-binder-controller', operator => {
    indexPodsByClaim(operator)
    operator.index(PersistentVolume, claimField, byClaim)
    operator
      .controller('persistentvolumeclaim-binder')
      .for(PersistentVolumeClaim)
      .watches(PersistentVolume, claimsForVolume)
      .watches(StorageClass, claimsOfClass)
      .watches(Pod, () => []) // read for event messages
      .options({ eventSource })
      .reconcile(reconcileClaim)
    operator
      .controller('persistentvolume-binder')
      .for(PersistentVolume)
      .watches(PersistentVolumeClaim, volumesOfClaim)
      .options({ eventSource })
      .reconcile(reconcileVolume)
  })
}

const claimField = 'claimRef'
const byClaim = ({ spec }: VolumeView): string[] =>
  spec?.claimRef ? [`${spec.claimRef.namespace}/${spec.claimRef.name}`] : []

const isUnbound = ({ metadata }: ClaimView) => metadata.annotations?.[bindCompleted] === undefined

/** Maps a volume to its claim, to claims that name it, and, while it is available, to all unbound ones. */
const claimsForVolume: MapFunction<PersistentVolume> = (volume, lookup) => {
  const { claimRef } = volume.spec ?? {}
  const { name } = volume.metadata
  if (claimRef) {
    const { namespace = '', name: claim = '' } = claimRef
    const naming = lookup.list(PersistentVolumeClaim).filter(({ spec }) => spec?.volumeName === name)
    return [{ namespace, name: claim }, ...naming.map(keyOfClaim)]
  }
  return lookup
    .list(PersistentVolumeClaim)
    .filter(claim => claim.spec?.volumeName === name || (isUnbound(claim) && !claim.spec?.volumeName))
    .map(keyOfClaim)
}

const claimsOfClass: MapFunction<StorageClass> = ({ metadata }, lookup) =>
  lookup
    .list(PersistentVolumeClaim)
    .filter(claim => isUnbound(claim) && (isWithoutClass(claim) || classNameOf(claim) === metadata.name))
    .map(keyOfClaim)

const volumesOfClaim: MapFunction<PersistentVolumeClaim> = ({ metadata, spec }, lookup) => {
  const meant = lookup.list(PersistentVolume, {
    fields: { [claimField]: `${metadata.namespace}/${metadata.name}` },
  })
  const names = new Set(meant.map(volume => volume.metadata.name))
  if (spec?.volumeName) names.add(spec.volumeName)
  return [...names].map(name => ({ name }))
}
