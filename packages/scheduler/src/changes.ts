import { deepEqual } from '@coxswain/apimachinery/json'
import type { NodeView, PodView } from '@coxswain/kinds'
import type { Change } from './plugin.ts'
import { computeRequests } from './resources.ts'

/** The changes of a node that a pod may have waited for. Empty for heartbeats. */
export function findNodeChanges(old: NodeView, node: NodeView): Set<Change> {
  const changes = new Set<Change>()
  const { metadata, spec, status } = node
  if (!deepEqual(old.status?.allocatable, status?.allocatable)) changes.add('allocatable')
  if (!deepEqual(old.metadata.labels, metadata.labels)) changes.add('labels')
  const isUncordoned = old.spec?.unschedulable === true && !spec?.unschedulable
  if (isUncordoned || !deepEqual(old.spec?.taints, spec?.taints)) changes.add('taints')
  if (!deepEqual(conditionsOf(old), conditionsOf(node))) changes.add('conditions')
  if (!deepEqual(old.metadata.annotations, metadata.annotations)) changes.add('annotations')
  if (!deepEqual(old.status?.declaredFeatures, status?.declaredFeatures)) changes.add('features')
  return changes
}

function conditionsOf({ status }: NodeView): Record<string, string> {
  return Object.fromEntries((status?.conditions ?? []).map(condition => [condition.type, condition.status]))
}

/** The changes of a pod that it, or another, may have waited for. */
export function findPodChanges(old: PodView, pod: PodView): Set<Change> {
  const changes = new Set<Change>()
  const { metadata, spec, status } = pod
  if (!deepEqual(old.metadata.labels, metadata.labels)) changes.add('labels')
  if (isScaledDown(old, pod)) changes.add('scaleDown')
  if (!spec.schedulingGates?.length && old.spec.schedulingGates?.length) changes.add('gates')
  if (old.spec.tolerations?.length !== spec.tolerations?.length) changes.add('tolerations')
  const hasOtherClaims =
    !deepEqual(old.status?.resourceClaimStatuses, status?.resourceClaimStatuses) ||
    !deepEqual(old.status?.extendedResourceClaimStatus, status?.extendedResourceClaimStatus)
  if (hasOtherClaims) changes.add('claims')
  return changes
}

function isScaledDown(old: PodView, pod: PodView): boolean {
  const isResized =
    old.metadata.generation !== pod.metadata.generation ||
    !deepEqual(old.status?.containerStatuses, pod.status?.containerStatuses)
  if (!isResized) return false
  const before = computeRequests(old).requests
  const after = computeRequests(pod).requests
  if (before.milliCpu > after.milliCpu || before.memory > after.memory) return true
  if (before.ephemeralStorage > after.ephemeralStorage) return true
  for (const [name, amount] of before.scalars) if (amount > (after.scalars.get(name) ?? 0)) return true
  return false
}

/** Whether anything changed that plug-ins can depend on, ignoring the status that the scheduler itself writes. */
export function isChanged(old: PodView, pod: PodView): boolean {
  const { labels, annotations, ownerReferences, deletionTimestamp } = pod.metadata
  const before = old.metadata
  return !(
    deepEqual(old.spec, pod.spec) &&
    deepEqual(before.labels, labels) &&
    deepEqual(before.annotations, annotations) &&
    deepEqual(before.ownerReferences, ownerReferences) &&
    before.deletionTimestamp === deletionTimestamp
  )
}
