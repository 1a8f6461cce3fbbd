import type { NodeInfo } from '../node-info.ts'
import {
  leaverOf,
  nodesOf,
  type SchedulerHandle,
  type SchedulerPlugin,
  skip,
  unresolvable,
  unschedulable,
} from '../plugin.ts'
import type { PodView } from '../pod-info.ts'
import { claimNamesOf, findClaim, isClaimOf } from './pod-claims.ts'

/** Disks that one node can use at a time, and claims that one pod can. */
export const volumeRestrictions: SchedulerPlugin = {
  name: 'VolumeRestrictions',
  preFilter: ({ pod: { pod }, handle }) => {
    for (const { name, ephemeral } of claimNamesOf(pod))
      if (!ephemeral && !findClaim(handle, pod, name))
        return unresolvable(`persistentvolumeclaim ${JSON.stringify(name)} not found`)
    return exclusiveClaims(pod, handle).length === 0 && exclusiveDisks(pod).length === 0 ? skip : undefined
  },
  filter: ({ pod: { pod }, nodes, handle }, node) => {
    const disks = exclusiveDisks(pod)
    if (disks.length > 0 && hasDiskConflict(node, disks))
      return unschedulable('node(s) had no available disk')
    const claims = exclusiveClaims(pod, handle)
    if (claims.length === 0) return undefined
    const isTaken = nodes.some(other => usesClaim(other.name === node.name ? node : other, pod, claims))
    return isTaken
      ? unschedulable(
          'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
        )
      : undefined
  },
  wakesOn: (event, pod) => {
    const leaver = leaverOf(event)
    if (!leaver)
      return nodesOf(event, 'taints') !== undefined || (event.action === 'add' && isClaimOf(event, pod))
    if (leaver.metadata.namespace !== pod.metadata.namespace) return false
    const claims = new Set(claimNamesOf(leaver).map(({ name }) => name))
    return (
      conflictsWith(leaver, exclusiveDisks(pod)) || claimNamesOf(pod).some(({ name }) => claims.has(name))
    )
  },
}

function exclusiveClaims(pod: PodView, handle: SchedulerHandle): string[] {
  return claimNamesOf(pod)
    .map(({ name }) => name)
    .filter(name => findClaim(handle, pod, name)?.spec?.accessModes?.includes('ReadWriteOncePod'))
}

function usesClaim(node: NodeInfo, { metadata }: PodView, claims: readonly string[]): boolean {
  for (const { pod } of node.pods()) {
    if (pod.metadata.namespace !== metadata.namespace || pod.metadata.uid === metadata.uid) continue
    if (claimNamesOf(pod).some(({ name }) => claims.includes(name))) return true
  }
  return false
}

interface Disk {
  readonly id: string
  /** Several pods may read it. */
  readonly shared: boolean
}

function exclusiveDisks({ spec }: PodView): Disk[] {
  return (spec.volumes ?? []).flatMap(({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }) => {
    if (gcePersistentDisk)
      return [{ id: `gce/${gcePersistentDisk.pdName}`, shared: gcePersistentDisk.readOnly === true }]
    if (awsElasticBlockStore) return [{ id: `aws/${awsElasticBlockStore.volumeID}`, shared: false }]
    if (iscsi) return [{ id: `iscsi/${iscsi.iqn}`, shared: iscsi.readOnly === true }]
    if (!rbd) return []
    return rbd.monitors.map(monitor => ({
      id: `rbd/${monitor}/${rbd.pool ?? 'rbd'}/${rbd.image}`,
      shared: rbd.readOnly === true,
    }))
  })
}

function hasDiskConflict(node: NodeInfo, disks: readonly Disk[]): boolean {
  for (const { pod } of node.pods()) if (conflictsWith(pod, disks)) return true
  return false
}

function conflictsWith(pod: PodView, disks: readonly Disk[]): boolean {
  return exclusiveDisks(pod).some(used =>
    disks.some(({ id, shared }) => id === used.id && !(shared && used.shared)),
  )
}
