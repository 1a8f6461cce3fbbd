import { StorageClass } from '@coxswain/api/storage/v1'
import { type SchedulerPlugin, skip, unresolvable } from '../plugin.ts'
import { claimNamesOf, findClaim, isStorageEvent, volumesOf } from './pod-claims.ts'

const topologyLabels = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]

/** Labels of a volume may list several zones. */
const separator = '__'

/** Volumes with a zone of their own are used there. */
export const volumeZone: SchedulerPlugin = {
  name: 'VolumeZone',
  preFilter: ({ pod: { pod }, handle }) => {
    const names = claimNamesOf(pod)
    if (names.length === 0) return skip
    for (const { name } of names) {
      const claim = findClaim(handle, pod, name)
      if (!claim || claim.spec?.volumeName) continue
      const className = claim.spec?.storageClassName
      const found = className ? handle.get(StorageClass, { name: className }) : undefined
      if (className && !found)
        return unresolvable(`storageclass.storage.k8s.io ${JSON.stringify(className)} not found`)
    }
    return undefined
  },
  filter: ({ pod: { pod }, handle }, { labels }) => {
    const hasZones = topologyLabels.some(label => labels[label] !== undefined)
    if (!hasZones) return undefined
    for (const volume of volumesOf(handle, pod)) {
      for (const label of topologyLabels) {
        const wanted = volume.metadata.labels?.[label]
        const actual = labels[label]
        if (wanted !== undefined && (actual === undefined || !wanted.split(separator).includes(actual)))
          return unresolvable('node(s) had no available volume zone')
      }
    }
    return undefined
  },
  wakesOn: event => isStorageEvent(event) || event.resource === 'Node',
}
