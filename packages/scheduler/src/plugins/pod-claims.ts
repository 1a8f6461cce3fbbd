import { PersistentVolume, PersistentVolumeClaim } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { PodView } from '@coxswain/kinds'
import type { ClusterEvent, SchedulerHandle } from '../plugin.ts'

export type ClaimView = DeepReadonly<PersistentVolumeClaim>
export type VolumeView = DeepReadonly<PersistentVolume>

export interface ClaimName {
  readonly name: string
  /** Created for this pod by the ephemeral volume controller. */
  readonly ephemeral: boolean
}

/** The claims that a pod uses, by name. */
export function claimNamesOf({ metadata, spec }: PodView): ClaimName[] {
  const names: ClaimName[] = []
  for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? []) {
    if (persistentVolumeClaim) names.push({ name: persistentVolumeClaim.claimName, ephemeral: false })
    else if (ephemeral) names.push({ name: `${metadata.name}-${name}`, ephemeral: true })
  }
  return names
}

export function findClaim(handle: SchedulerHandle, pod: PodView, name: string): ClaimView | undefined {
  return handle.get(PersistentVolumeClaim, { namespace: pod.metadata.namespace ?? '', name })
}

/** The volumes of the pod's bound claims; missing ones are omitted. */
export function volumesOf(handle: SchedulerHandle, pod: PodView): VolumeView[] {
  return claimNamesOf(pod).flatMap(({ name }) => {
    const volumeName = findClaim(handle, pod, name)?.spec?.volumeName
    const volume = volumeName ? handle.get(PersistentVolume, { name: volumeName }) : undefined
    return volume ? [volume] : []
  })
}

/** Whether the event concerns a claim that the pod uses. */
export function isClaimOf({ resource, action, object }: ClusterEvent, pod: PodView): boolean {
  if (resource !== 'PersistentVolumeClaim' || action === 'delete') return false
  const { metadata } = object as ClaimView
  return (
    metadata.namespace === pod.metadata.namespace &&
    claimNamesOf(pod).some(({ name }) => name === metadata.name)
  )
}

/** Kinds whose changes may make a pod schedulable that lacked a volume. */
export function isStorageEvent({ resource }: { readonly resource: string }): boolean {
  return storageKinds.has(resource)
}

const storageKinds = new Set([
  'PersistentVolumeClaim',
  'PersistentVolume',
  'StorageClass',
  'CSINode',
  'CSIDriver',
  'CSIStorageCapacity',
  'VolumeAttachment',
])
