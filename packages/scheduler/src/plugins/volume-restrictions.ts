import type { PodView } from '@coxswain/kinds'
import type { NodeInfo } from '../node-info.ts'
import {
  type CycleData,
  nodesOf,
  removedPodOf,
  type SchedulerHandle,
  type SchedulerPlugin,
  skip,
  unresolvable,
  unschedulable,
} from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import { claimNamesOf, findClaim, isClaimOf } from './pod-claims.ts'

const name = 'VolumeRestrictions'

/** ReadWriteOncePod claims that the pod shares with others; preemption simulates removing some of them. */
class SharedClaims implements CycleData {
  readonly #claims: readonly string[]
  #uses: number

  constructor(claims: readonly string[], uses: number) {
    this.#claims = claims
    this.#uses = uses
  }

  get isInUse(): boolean {
    return this.#uses > 0
  }

  clone(): SharedClaims {
    return new SharedClaims(this.#claims, this.#uses)
  }

  addPod(pod: PodInfo): void {
    this.#uses += this.#usesOf(pod)
  }

  removePod(pod: PodInfo): void {
    this.#uses -= this.#usesOf(pod)
  }

  #usesOf({ pod }: PodInfo): number {
    return namedClaims(pod).filter(claim => this.#claims.includes(claim)).length
  }
}

/** Disks that only one node can use at a time, and claims that only one pod can. */
export const volumeRestrictions: SchedulerPlugin = {
  name,
  preFilter: ({ pod: { pod }, nodes, handle, data }) => {
    for (const claim of namedClaims(pod))
      if (!findClaim(handle, pod, claim))
        return unresolvable(`persistentvolumeclaim ${JSON.stringify(claim)} not found`)
    const claims = exclusiveClaims(pod, handle)
    // Each counts once, since at most one pod should use it.
    const uses = claims.filter(claim => nodes.some(node => usesClaim(node, pod, claim))).length
    if (uses === 0 && exclusiveDisks(pod).length === 0) return skip
    data.set(name, new SharedClaims(claims, uses))
    return undefined
  },
  filter: ({ pod: { pod }, data }, node) => {
    const disks = exclusiveDisks(pod)
    if (disks.length > 0 && hasDiskConflict(node, disks))
      return unschedulable('node(s) had no available disk')
    return (data.get(name) as SharedClaims).isInUse
      ? unschedulable(
          'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
        )
      : undefined
  },
  wakesOn: (event, pod) => {
    const removedPod = removedPodOf(event)
    if (!removedPod)
      return nodesOf(event, 'taints') !== undefined || (event.action === 'add' && isClaimOf(event, pod))
    if (removedPod.metadata.namespace !== pod.metadata.namespace) return false
    const claims = new Set(claimNamesOf(removedPod).map(({ name }) => name))
    return (
      conflictsWith(removedPod, exclusiveDisks(pod)) || claimNamesOf(pod).some(({ name }) => claims.has(name))
    )
  },
}

function namedClaims({ spec }: PodView): string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => (claim ? [claim.claimName] : []))
}

function exclusiveClaims(pod: PodView, handle: SchedulerHandle): string[] {
  const claims = new Set(namedClaims(pod))
  return [...claims].filter(claim =>
    findClaim(handle, pod, claim)?.spec?.accessModes?.includes('ReadWriteOncePod'),
  )
}

function usesClaim(node: NodeInfo, { metadata }: PodView, claim: string): boolean {
  for (const { pod } of node.pods())
    if (pod.metadata.namespace === metadata.namespace && namedClaims(pod).includes(claim)) return true
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
