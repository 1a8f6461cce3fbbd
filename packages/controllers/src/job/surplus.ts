import { isReady, type PodView, readySince, restartsOf } from '../pods/pod-state.ts'
import { indexOf, isIndexed, isTracked, type JobView } from './job-pods.ts'

const phases = ['Pending', 'Unknown', 'Running']

/** At least `count` of the active pods, those that have got least far, and of an indexed job all without an index of their own. */
export function chooseSurplus(job: JobView, active: readonly PodView[], count: number): PodView[] {
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
 * Those that were let go of already come first, since nobody would count them; then those without a node, not running, not
 * ready, ready for a shorter time, restarted more often, younger.
 */
function byProgress(a: PodView, b: PodView): number {
  const createdAt = ({ metadata }: PodView) => Date.parse(metadata.creationTimestamp ?? '')
  const order = [
    Number(isTracked(a)) - Number(isTracked(b)),
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)),
    phases.indexOf(a.status?.phase ?? '') - phases.indexOf(b.status?.phase ?? ''),
    Number(isReady(a)) - Number(isReady(b)),
    (readySince(b) ?? 0) - (readySince(a) ?? 0),
    restartsOf(b) - restartsOf(a),
    createdAt(b) - createdAt(a),
  ]
  return order.find(difference => difference !== 0) ?? (a.metadata.uid < b.metadata.uid ? -1 : 1)
}
