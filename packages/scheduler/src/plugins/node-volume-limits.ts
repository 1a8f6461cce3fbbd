import { PersistentVolume } from '@coxswain/api/core/v1'
import { CSINode, StorageClass, VolumeAttachment } from '@coxswain/api/storage/v1'
import type { PodView } from '@coxswain/kinds'
import { removedPodOf, type SchedulerHandle, type SchedulerPlugin, skip, unschedulable } from '../plugin.ts'
import { type CsiVolume, csiOf, driverOf, isMigrated, translateInline } from './csi-migration.ts'
import { claimNamesOf, findClaim, isClaimOf } from './pod-claims.ts'

/** Limits the volumes that a CSI driver attaches to a node. */
export const nodeVolumeLimits: SchedulerPlugin = {
  name: 'NodeVolumeLimits',
  kinds: [VolumeAttachment],
  preFilter: ({ pod: { pod } }) => (hasAttachable(pod) ? undefined : skip),
  filter: ({ pod: { pod }, handle }, node) => {
    const csiNode = handle.get(CSINode, { name: node.name })
    if (!csiNode) return undefined
    const own = attachmentsOf(pod, handle)
    const limits = new Map(
      (csiNode.spec?.drivers ?? []).flatMap(({ name, allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
      ),
    )
    if (own.length === 0 || limits.size === 0) return undefined
    const attached = new Map<string, string>()
    for (const other of node.pods())
      for (const { driver, id } of attachmentsOf(other.pod, handle)) attached.set(id, driver)
    const requested = new Map<string, string>()
    for (const { driver, id } of own) if (!attached.has(id)) requested.set(id, driver)
    for (const { driver, id } of leftOn(node.name, handle)) attached.set(id, driver)
    for (const [driver, limit] of limits) {
      const more = countOf(driver, requested)
      if (more > 0 && countOf(driver, attached) + more > limit)
        return unschedulable('node(s) exceed max volume count')
    }
    return undefined
  },
  wakesOn: (event, pod) => {
    const removedPod = removedPodOf(event)
    if (removedPod) return hasAttachable(removedPod)
    const { resource, action, old, object } = event
    if (resource === 'CSINode' && action !== 'delete')
      return old === undefined || hasHigherLimit(old as CSINode, object as CSINode)
    if (resource === 'VolumeAttachment') return action === 'delete' && claimNamesOf(pod).length > 0
    return action === 'add' && isClaimOf(event, pod)
  },
}

function countOf(driver: string, drivers: ReadonlyMap<string, string>): number {
  let count = 0
  for (const each of drivers.values()) if (each === driver) count++
  return count
}

interface Attachment {
  readonly driver: string
  readonly id: string
}

/** Volumes still attached to a node, whether or not a pod there uses them. */
function leftOn(node: string, handle: SchedulerHandle): Attachment[] {
  return handle.list(VolumeAttachment).flatMap(({ spec }) => {
    if (spec?.nodeName !== node) return []
    const { persistentVolumeName: name } = spec.source
    const csi = name === undefined ? undefined : handle.get(PersistentVolume, { name })?.spec?.csi
    return csi ? [toAttachment(csi)] : []
  })
}

function toAttachment({ driver, volumeHandle }: CsiVolume): Attachment {
  return { driver, id: `${driver}/${volumeHandle}` }
}

function hasAttachable(pod: PodView): boolean {
  return claimNamesOf(pod).length > 0 || (pod.spec.volumes ?? []).some(isMigrated)
}

function hasHigherLimit(old: CSINode, node: CSINode): boolean {
  const before = new Map(old.spec?.drivers.map(({ name, allocatable }) => [name, allocatable?.count ?? 0]))
  return (
    node.spec?.drivers.some(
      ({ name, allocatable }) => (allocatable?.count ?? 0) > (before.get(name) ?? 0),
    ) === true
  )
}

/** The volumes of a pod that would be attached; an unbound claim counts for its provisioner's driver. */
function attachmentsOf(pod: PodView, handle: SchedulerHandle): Attachment[] {
  const found: Attachment[] = []
  for (const volume of pod.spec.volumes ?? []) {
    const inline = translateInline(volume)
    if (inline) found.push(toAttachment(inline))
  }
  for (const { name } of claimNamesOf(pod)) {
    const claim = findClaim(handle, pod, name)
    if (!claim) continue
    const { volumeName = '', storageClassName = '' } = claim.spec ?? {}
    const volume = volumeName === '' ? undefined : handle.get(PersistentVolume, { name: volumeName })
    if (volume) {
      const csi = csiOf(volume)
      if (csi) found.push(toAttachment(csi))
      continue
    }
    const provisioner = handle.get(StorageClass, { name: storageClassName })?.provisioner
    if (provisioner) found.push({ driver: driverOf(provisioner), id: `${claim.metadata.namespace}/${name}` })
  }
  return found
}
