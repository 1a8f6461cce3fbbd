import { isActive, isReady, type PodView, readySince, restartsOf } from '../pods/pod-state.ts'

const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const phases = ['Pending', 'Unknown', 'Running']

/**
 * The `count` pods that are missed least: without a node, not running, not ready, cheap, on a node with many of
 * their kind (`related`), ready for a shorter time, restarted more often, younger.
 */
export function choosePodsToDelete(
  pods: readonly PodView[],
  related: readonly PodView[],
  count: number,
  now: number,
): PodView[] {
  if (count >= pods.length) return [...pods]
  const perNode = new Map<string, number>()
  for (const pod of related) {
    const node = pod.spec.nodeName ?? ''
    if (isActive(pod)) perNode.set(node, (perNode.get(node) ?? 0) + 1)
  }
  const rankOf = (pod: PodView) => perNode.get(pod.spec.nodeName ?? '') ?? 0
  return [...pods].sort((a, b) => compare(a, b, rankOf, now)).slice(0, count)
}

function compare(a: PodView, b: PodView, rankOf: (pod: PodView) => number, now: number): number {
  const order = [
    Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName)),
    phaseOf(a) - phaseOf(b),
    Number(isReady(a)) - Number(isReady(b)),
    costOf(a) - costOf(b),
    rankOf(b) - rankOf(a),
    // Times count by their order of magnitude, so that a second more or less does not decide.
    isReady(a) && isReady(b) ? magnitude(readySince(a), now) - magnitude(readySince(b), now) : 0,
    restartsOf(b) - restartsOf(a),
    magnitude(createdAt(a), now) - magnitude(createdAt(b), now),
  ]
  return order.find(difference => difference !== 0) ?? (a.metadata.uid < b.metadata.uid ? -1 : 1)
}

function phaseOf({ status }: PodView): number {
  return phases.indexOf(status?.phase ?? 'Pending')
}

function costOf({ metadata }: PodView): number {
  const text = metadata.annotations?.[deletionCost] ?? ''
  return /^-?\d+$/.test(text) ? Number(text) : 0
}

function createdAt({ metadata }: PodView): number {
  return Date.parse(metadata.creationTimestamp)
}

/** How long ago, as a power of two of nanoseconds. */
function magnitude(since: number | undefined, now: number): number {
  if (since === undefined) return 0
  return Math.floor(Math.log2(Math.max(1, (now - since) * 1e6)))
}
