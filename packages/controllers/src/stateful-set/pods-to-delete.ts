import { isPodAvailable, type PodView, scaleIntOrPercent } from '@coxswain/kinds'
import type { Member } from './claims.ts'
import { podRevision, replicasOf, type StatefulSetView, startOf } from './identity.ts'

/** Missing, terminating, or not ready for `minReadySeconds`. */
export function isUnavailable({ spec }: StatefulSetView, pod: PodView | undefined, now: number): boolean {
  if (!pod || pod.metadata.deletionTimestamp) return true
  return !isPodAvailable(pod, spec?.minReadySeconds ?? 0, now)
}

/**
 * The pods of old revisions that may be deleted now, highest ordinal first; they are recreated at the new revision. Without
 * `maxUnavailable`, which servers drop unless the feature is enabled, one pod at a time, even if it is unhealthy itself.
 */
export function choosePodsToDelete(
  set: StatefulSetView,
  replicas: ReadonlyMap<number, PodView>,
  { revision, now }: { readonly revision: string; readonly now: number },
): Member[] {
  const { partition = 0, maxUnavailable } = set.spec?.updateStrategy?.rollingUpdate ?? {}
  const ordinals = Array.from({ length: replicasOf(set) }, (_, index) => startOf(set) + index)
  const members = ordinals.map(ordinal => ({ ordinal, pod: replicas.get(ordinal) }))
  const candidates = members.slice(partition).reverse()
  const isOld = (pod: PodView | undefined) =>
    pod !== undefined && podRevision(pod) !== revision && !pod.metadata.deletionTimestamp
  if (maxUnavailable === undefined) {
    const first = candidates.find(({ pod }) => isOld(pod) || isUnavailable(set, pod, now))
    return first && isOld(first.pod) ? [first as Member] : []
  }
  const most = Math.max(1, scaleIntOrPercent(maxUnavailable, ordinals.length, 'down'))
  const missing = members.filter(({ pod }) => isUnavailable(set, pod, now)).length
  return candidates.filter(({ pod }) => isOld(pod)).slice(0, Math.max(0, most - missing)) as Member[]
}
