import { PersistentVolume } from '@coxswain/api/core/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import { nodesOf, type SchedulerHandle, type SchedulerPlugin, skip, unresolvable } from '../plugin.ts'
import {
  type ClaimView,
  claimNamesOf,
  findClaim,
  isClaimOf,
  type VolumeView,
  volumesOf,
} from './pod-claims.ts'

const topologyLabels = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]

/** Volume labels may list several zones. */
const separator = '__'

/** Volumes with zone labels are used only there. */
export const volumeZone: SchedulerPlugin = {
  name: 'VolumeZone',
  preFilter: ({ pod: { pod }, handle }) => {
    const names = claimNamesOf(pod).filter(({ ephemeral }) => !ephemeral)
    for (const { name } of names) {
      const problem = findProblem(findClaim(handle, pod, name), name, handle)
      if (problem !== undefined) return unresolvable(problem)
    }
    return volumesOf(handle, pod).some(volume =>
      topologyLabels.some(label => volume.metadata.labels?.[label]),
    )
      ? undefined
      : skip
  },
  filter: ({ pod: { pod }, handle }, { labels }) => {
    const hasZones = topologyLabels.some(label => labels[label] !== undefined)
    if (!hasZones) return undefined
    for (const volume of volumesOf(handle, pod)) {
      for (const label of topologyLabels) {
        const zones = volume.metadata.labels?.[label]
        const actual = labels[label]
        if (zones !== undefined && (actual === undefined || !zones.split(separator).includes(actual)))
          return unresolvable('node(s) had no available volume zone')
      }
    }
    return undefined
  },
  wakesOn: (event, pod) => {
    const { resource, action, old, object } = event
    if (resource === 'StorageClass')
      return action === 'add' && (object as StorageClass).volumeBindingMode === 'WaitForFirstConsumer'
    if (resource === 'PersistentVolume' && action !== 'delete')
      return old === undefined || zonesOf(old as VolumeView) !== zonesOf(object as VolumeView)
    return isClaimOf(event, pod) || nodesOf(event, 'labels', 'taints') !== undefined
  },
}

function zonesOf({ metadata }: VolumeView): string {
  return JSON.stringify(topologyLabels.map(label => metadata.labels?.[label]))
}

function findProblem(
  claim: ClaimView | undefined,
  name: string,
  handle: SchedulerHandle,
): string | undefined {
  if (!claim) return `persistentvolumeclaim ${JSON.stringify(name)} not found`
  const { volumeName, storageClassName: className } = claim.spec ?? {}
  if (volumeName)
    return handle.get(PersistentVolume, { name: volumeName })
      ? undefined
      : `persistentvolume ${JSON.stringify(volumeName)} not found`
  if (!className) return 'PersistentVolumeClaim had no pv name and storageClass name'
  const found = handle.get(StorageClass, { name: className })
  if (!found) return `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`
  return found.volumeBindingMode === 'WaitForFirstConsumer' ? undefined : 'PersistentVolume had no name'
}
