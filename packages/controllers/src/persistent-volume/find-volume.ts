import type { LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import {
  type ClaimView,
  classNameOf,
  hasModes,
  isMeantFor,
  isOtherAttributesClass,
  isOtherVolumeMode,
  requestOf,
  sizeOf,
  type VolumeView,
} from './volumes.ts'

/**
 * The volume for a claim: one reserved for it, or else the smallest that matches, with as few additional access modes as
 * possible. With delayed binding only a reserved one: the scheduler chooses.
 */
export function findVolume(
  claim: ClaimView,
  volumes: readonly VolumeView[],
  { isDelayed }: { readonly isDelayed: boolean },
): VolumeView | undefined {
  const fitting = volumes.filter(
    volume =>
      !volume.metadata.deletionTimestamp &&
      (!volume.spec?.claimRef || isMeantFor(volume, claim)) &&
      hasModes(volume, claim) &&
      !isOtherVolumeMode(volume, claim) &&
      !isOtherAttributesClass(volume, claim) &&
      sizeOf(volume).compare(requestOf(claim)) >= 0,
  )
  const meant = fitting.find(volume => isMeantFor(volume, claim))
  if (meant || isDelayed) return meant
  const selector = claim.spec?.selector && labelSelectorAsSelector(claim.spec.selector as LabelSelector)
  const free = fitting.filter(
    volume =>
      volume.status?.phase === 'Available' &&
      classNameOf(volume) === classNameOf(claim) &&
      (!selector || selector.matches(volume.metadata.labels)),
  )
  const modes = ({ spec }: VolumeView) => spec?.accessModes?.length ?? 0
  return free.sort(
    (a, b) =>
      modes(a) - modes(b) || sizeOf(a).compare(sizeOf(b)) || (a.metadata.name < b.metadata.name ? -1 : 1),
  )[0]
}

/** Why a volume that a claim names does not match; undefined if it does. */
export function mismatchOf(volume: VolumeView, claim: ClaimView): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion "${volume.metadata.name}"`
  if (sizeOf(volume).compare(requestOf(claim)) < 0) return 'requested PV is too small'
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match'
  if (isOtherAttributesClass(volume, claim)) return 'volumeAttributesClassName does not match'
  if (isOtherVolumeMode(volume, claim)) return 'incompatible volumeMode'
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode'
}
