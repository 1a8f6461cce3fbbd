import { CSINode, StorageClass } from '@coxswain/api/storage/v1'
import { isRoomMade, type SchedulerHandle, type SchedulerPlugin, skip, unschedulable } from '../plugin.ts'
import type { PodView } from '../pod-info.ts'
import { claimNamesOf, findClaim, isStorageEvent, volumesOf } from './pod-claims.ts'

/** A CSI driver attaches only so many volumes to one node. */
export const nodeVolumeLimits: SchedulerPlugin = {
  name: 'NodeVolumeLimits',
  preFilter: ({ pod: { pod } }) =>
    claimNamesOf(pod).length === 0 && !pod.spec.volumes?.some(({ csi }) => csi) ? skip : undefined,
  filter: ({ pod: { pod }, handle }, node) => {
    const limits = new Map(
      (handle.get(CSINode, { name: node.name })?.spec?.drivers ?? []).flatMap(({ name, allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
      ),
    )
    if (limits.size === 0) return undefined
    const used = new Map<string, Set<string>>()
    const count = (of: PodView) => {
      for (const { driver, id } of attachmentsOf(of, handle)) {
        const ids = used.get(driver) ?? new Set<string>()
        ids.add(id)
        used.set(driver, ids)
      }
    }
    for (const other of node.pods()) count(other.pod)
    const before = new Map([...used].map(([driver, ids]) => [driver, ids.size]))
    count(pod)
    for (const [driver, limit] of limits) {
      const now = used.get(driver)?.size ?? 0
      if (now > limit && now > (before.get(driver) ?? 0))
        return unschedulable('node(s) exceed max volume count')
    }
    return undefined
  },
  wakesOn: event => isRoomMade(event) || isStorageEvent(event) || event.resource === 'Node',
}

/** What would be attached for a pod; a claim that has no volume yet counts for the driver that will make it. */
function attachmentsOf(pod: PodView, handle: SchedulerHandle): { driver: string; id: string }[] {
  const found = volumesOf(handle, pod).flatMap(({ spec }) =>
    spec?.csi ? [{ driver: spec.csi.driver, id: spec.csi.volumeHandle }] : [],
  )
  for (const { name } of claimNamesOf(pod)) {
    const claim = findClaim(handle, pod, name)
    if (!claim || claim.spec?.volumeName) continue
    const driver = handle.get(StorageClass, { name: claim.spec?.storageClassName ?? '' })?.provisioner
    if (driver) found.push({ driver, id: `${claim.metadata.namespace}/${name}` })
  }
  return found
}
