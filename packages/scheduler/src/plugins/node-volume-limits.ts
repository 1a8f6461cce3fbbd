import { PersistentVolume } from '@coxswain/api/core/v1'
import { CSINode, StorageClass, VolumeAttachment } from '@coxswain/api/storage/v1'
import { leaverOf, type SchedulerHandle, type SchedulerPlugin, skip, unschedulable } from '../plugin.ts'
import type { PodView } from '../pod-info.ts'
import { claimNamesOf, findClaim, isClaimOf, volumesOf } from './pod-claims.ts'

/** A CSI driver attaches only so many volumes to one node. */
export const nodeVolumeLimits: SchedulerPlugin = {
  name: 'NodeVolumeLimits',
  kinds: [VolumeAttachment],
  preFilter: ({ pod: { pod } }) => (claimNamesOf(pod).length === 0 ? skip : undefined),
  filter: ({ pod: { pod }, handle }, node) => {
    const limits = new Map(
      (handle.get(CSINode, { name: node.name })?.spec?.drivers ?? []).flatMap(({ name, allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
      ),
    )
    if (limits.size === 0) return undefined
    const attached = new Map<string, string>()
    for (const other of node.pods())
      for (const { driver, id } of attachmentsOf(other.pod, handle)) attached.set(id, driver)
    const wanted = new Map<string, string>()
    for (const { driver, id } of attachmentsOf(pod, handle)) if (!attached.has(id)) wanted.set(id, driver)
    for (const { driver, id } of leftOn(node.name, handle)) attached.set(id, driver)
    for (const [driver, limit] of limits) {
      const more = countOf(driver, wanted)
      if (more > 0 && countOf(driver, attached) + more > limit)
        return unschedulable('node(s) exceed max volume count')
    }
    return undefined
  },
  wakesOn: (event, pod) => {
    const leaver = leaverOf(event)
    if (leaver) return claimNamesOf(leaver).length > 0
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

/** What is still attached to a node, whether or not a pod there uses it. */
function leftOn(node: string, handle: SchedulerHandle): Attachment[] {
  return handle.list(VolumeAttachment).flatMap(({ spec }) => {
    if (spec?.nodeName !== node) return []
    const { persistentVolumeName: name } = spec.source
    const csi = name === undefined ? undefined : handle.get(PersistentVolume, { name })?.spec?.csi
    return csi ? [toAttachment(csi)] : []
  })
}

function toAttachment({ driver, volumeHandle }: { driver: string; volumeHandle: string }): Attachment {
  return { driver, id: `${driver}/${volumeHandle}` }
}

function hasHigherLimit(old: CSINode, node: CSINode): boolean {
  const before = new Map(old.spec?.drivers.map(({ name, allocatable }) => [name, allocatable?.count ?? 0]))
  return (
    node.spec?.drivers.some(
      ({ name, allocatable }) => (allocatable?.count ?? 0) > (before.get(name) ?? 0),
    ) === true
  )
}

/** What would be attached for a pod; a claim that has no volume yet counts for the driver that will make it. */
function attachmentsOf(pod: PodView, handle: SchedulerHandle): Attachment[] {
  const found = volumesOf(handle, pod).flatMap(({ spec }) => (spec?.csi ? [toAttachment(spec.csi)] : []))
  for (const { name } of claimNamesOf(pod)) {
    const claim = findClaim(handle, pod, name)
    if (!claim || claim.spec?.volumeName) continue
    const driver = handle.get(StorageClass, { name: claim.spec?.storageClassName ?? '' })?.provisioner
    if (driver) found.push({ driver, id: `${claim.metadata.namespace}/${name}` })
  }
  return found
}
