import { parseInt64 } from '@coxswain/apimachinery/go'
import { isPodActive, isPodReady, maxRestartCount, type PodView, podReadySince } from '@coxswain/kinds'

const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
/** The prefix of a valid cost: upstream rejects plus signs and leading zeros. */
const validCost = /^(-|[1-9]|0$)/
const phases = ['Pending', 'Unknown', 'Running']

export interface PodsToDeleteOptions {
  /** The pods of all ReplicaSets with the same controller. */
  readonly related: readonly PodView[]
  readonly count: number
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Chooses the `count` pods to delete first: unassigned, not running, not ready, lower deletion cost, on a node with more pods of
 * the same controller (`related`), ready for a shorter time, more restarts, created later.
 */
export function choosePodsToDelete(
  pods: readonly PodView[],
  { related, count, now }: PodsToDeleteOptions,
): PodView[] {
  if (count >= pods.length) return [...pods]
  const perNode = new Map<string, number>()
  for (const pod of related) {
    const node = pod.spec.nodeName ?? ''
    if (isPodActive(pod)) perNode.set(node, (perNode.get(node) ?? 0) + 1)
  }
  const ranked = pods.map(pod => ({
    pod,
    worth: worthOf(pod, perNode.get(pod.spec.nodeName ?? '') ?? 0, now),
  }))
  ranked.sort((a, b) => compare(a.worth, b.worth) || (a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1))
  return ranked.slice(0, count).map(({ pod }) => pod)
}

/** Ranks a pod by these criteria, most significant first; the lowest ranks are deleted. */
function worthOf(pod: PodView, neighbours: number, now: number): readonly number[] {
  return [
    Number(Boolean(pod.spec.nodeName)),
    phaseOf(pod),
    Number(isPodReady(pod)),
    costOf(pod),
    -neighbours,
    // Times are compared by order of magnitude, so that a difference of a second does not decide.
    magnitude(podReadySince(pod), now),
    -maxRestartCount(pod),
    magnitude(createdAt(pod), now),
  ]
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, at) => value !== b[at])
  return index < 0 ? 0 : a[index]! - b[index]!
}

function phaseOf({ status }: PodView): number {
  return phases.indexOf(status?.phase ?? 'Pending')
}

function costOf({ metadata }: PodView): number {
  const text = metadata.annotations?.[deletionCost] ?? ''
  const cost = validCost.test(text) ? parseInt64(text) : undefined
  return cost !== undefined && BigInt.asIntN(32, cost) === cost ? Number(cost) : 0
}

function createdAt({ metadata }: PodView): number {
  return Date.parse(metadata.creationTimestamp)
}

/** The age as a power of two in nanoseconds. */
function magnitude(since: number | undefined, now: number): number {
  if (since === undefined) return 0
  return Math.floor(Math.log2(Math.max(1, (now - since) * 1e6)))
}
