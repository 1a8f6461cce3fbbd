import { isPodReady, maxRestartCount, type PodView, podReadySince } from '@coxswain/kinds'
import { indexOf, isIndexed, isTracked, type JobView } from './job-pods.ts'

const phases = ['Pending', 'Unknown', 'Running']

/** Chooses at least `count` active pods with the least progress, and all pods of an indexed job without a unique index. */
export function choosePodsToDelete(job: JobView, active: readonly PodView[], count: number): PodView[] {
  if (!isIndexed(job)) return active.toSorted(byProgress).slice(0, count)
  const surplus: PodView[] = []
  const left: PodView[] = []
  const byIndex = Map.groupBy(active, pod => indexOf(pod, job.spec?.completions ?? 0))
  for (const [index, pods] of byIndex) {
    const order = pods.toSorted(byProgress)
    const best = index === undefined ? undefined : order.pop()
    if (best) left.push(best)
    for (const item of order) surplus.push(item)
  }
  const more = Math.max(0, count - surplus.length)
  return [...surplus, ...left.toSorted(byProgress).slice(0, more)]
}

/**
 * Untracked pods first, since they would not be counted; then unassigned, not running, not ready, ready for a shorter time, more
 * restarts, created later.
 */
function byProgress(a: PodView, b: PodView): number {
  const createdAt = ({ metadata }: PodView) => Date.parse(metadata.creationTimestamp ?? '')
  const order = [
    Number(isTracked(a)) - Number(isTracked(b)),
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)),
    phases.indexOf(a.status?.phase ?? '') - phases.indexOf(b.status?.phase ?? ''),
    Number(isPodReady(a)) - Number(isPodReady(b)),
    (podReadySince(b) ?? 0) - (podReadySince(a) ?? 0),
    maxRestartCount(b) - maxRestartCount(a),
    createdAt(b) - createdAt(a),
  ]
  return order.find(difference => difference !== 0) ?? (a.metadata.uid < b.metadata.uid ? -1 : 1)
}
