import type { Random } from '@coxswain/kit'
import type { Extender } from './extender.ts'
import type { NodeInfo } from './node-info.ts'
import type { Nominations } from './nominations.ts'
import { type Cycle, type CycleData, highestScore, type NodeScore, skip, type Verdict } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import type { CompiledProfile } from './profile.ts'

/** One attempt, with what the scheduler keeps of it. */
export interface Attempt extends Cycle {
  readonly profile: CompiledProfile
  readonly nominations: Nominations
  /** Plug-ins that have nothing to do with the pod, by `point/name`. */
  readonly skipped: Set<string>
}

/** No node, and why. */
export interface Failure {
  readonly kind: 'failure'
  /** Of nodes that were looked at. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** Said before any node was looked at. */
  readonly preFilter?: Verdict
  readonly refusedBy: readonly string[]
}

export interface Found {
  readonly kind: 'found'
  readonly node: NodeInfo
}

/** Below this many nodes all of them are looked at. */
const alwaysAll = 100

/** How many nodes that would do are enough to choose from. */
function enoughNodes(all: number, percentage = 0): number {
  if (all < alwaysAll) return all
  const share = percentage > 0 ? percentage : Math.max(5, 50 - Math.trunc(all / 125))
  return Math.max(alwaysAll, Math.trunc((all * share) / 100))
}

const notEligible: Verdict = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ["node(s) didn't satisfy plugin(s)"],
}

/** Asks every plug-in about the pod alone. Undefined when all nodes come into question. */
function runPreFilters(attempt: Attempt): ReadonlySet<string> | Verdict | undefined {
  let only: Set<string> | undefined
  const narrowedBy: string[] = []
  for (const plugin of attempt.profile.at('preFilter')) {
    const result = plugin.preFilter(attempt)
    if (result === undefined) continue
    if (result === skip) {
      attempt.skipped.add(`filter/${plugin.name}`)
      continue
    }
    if ('code' in result) return { ...result, plugin: plugin.name }
    const { nodes } = result
    if (!nodes) continue
    narrowedBy.push(plugin.name)
    only = only ? new Set([...only].filter(name => nodes.has(name))) : new Set(nodes)
    if (only.size === 0) {
      const reason = `node(s) didn't satisfy plugin(s) [${narrowedBy.join(' ')}] simultaneously`
      return { code: 'UnschedulableAndUnresolvable', reasons: [reason], plugin: plugin.name }
    }
  }
  return only
}

/** The first verdict against `node`, as it stands. */
function runFilters(attempt: Attempt, node: NodeInfo): Verdict | undefined {
  for (const plugin of attempt.profile.at('filter')) {
    if (attempt.skipped.has(`filter/${plugin.name}`)) continue
    const verdict = plugin.filter(attempt, node)
    if (verdict) return { ...verdict, plugin: plugin.name }
  }
  return undefined
}

/**
 * The same with those on `node` that were promised a place there and are at least as important. They may come or not, so
 * the pod has to fit both with them and without.
 */
export function runFiltersWithNominated(attempt: Attempt, node: NodeInfo): Verdict | undefined {
  const promised = [...attempt.nominations.on(node.name)].filter(
    other => other.uid !== attempt.pod.uid && other.priority >= attempt.pod.priority,
  )
  if (promised.length > 0) {
    const crowded = copyAttempt(attempt)
    const copy = node.clone()
    for (const other of promised) addPod(crowded, copy, other)
    const verdict = runFilters(crowded, copy)
    if (verdict) return verdict
  }
  return runFilters(attempt, node)
}

/** A copy on which pods can be added and removed. */
export function copyAttempt(attempt: Attempt): Attempt {
  const data = new Map<string, object>()
  for (const [name, value] of attempt.data) data.set(name, (value as CycleData).clone?.() ?? value)
  return { ...attempt, data }
}

export function addPod(attempt: Attempt, node: NodeInfo, pod: PodInfo): void {
  node.addPod(pod)
  for (const value of attempt.data.values()) (value as CycleData).addPod?.(pod, node)
}

export function removePod(attempt: Attempt, node: NodeInfo, pod: PodInfo): void {
  node.removePod(pod.uid)
  for (const value of attempt.data.values()) (value as CycleData).removePod?.(pod, node)
}

export interface SearchOptions {
  readonly random: Random
  readonly extenders: readonly Extender[]
  readonly percentageOfNodesToScore: number
  /** Where the last search ended, so that every node gets its turn. */
  readonly position: { next: number }
}

/** Finds the best node for the pod of an attempt. */
export async function findNode(attempt: Attempt, options: SearchOptions): Promise<Found | Failure> {
  const only = runPreFilters(attempt)
  if (only && 'code' in only) {
    const refusedBy = only.plugin === undefined ? [] : [only.plugin]
    return { kind: 'failure', verdicts: new Map(), preFilter: only, refusedBy }
  }
  const verdicts = new Map<string, Verdict>()
  const feasible = findFeasible(attempt, options, only, verdicts)
  const left = await askExtenders(attempt, options.extenders, feasible, verdicts)
  if (left.length === 0) {
    const names = [...verdicts.values()].flatMap(({ plugin }) => (plugin === undefined ? [] : [plugin]))
    return { kind: 'failure', verdicts, refusedBy: [...new Set(names)] }
  }
  const node = left.length === 1 ? left[0]! : await chooseBest(attempt, options, left)
  return { kind: 'found', node }
}

function findFeasible(
  attempt: Attempt,
  { percentageOfNodesToScore, position, extenders }: SearchOptions,
  only: ReadonlySet<string> | undefined,
  verdicts: Map<string, Verdict>,
): NodeInfo[] {
  const { nodes, nominations, pod } = attempt
  const promised = nominations.nodeOf(pod.uid)
  const own = promised === undefined ? undefined : nodes.find(({ name }) => name === promised)
  if (own && (!only || only.has(own.name))) {
    const verdict = runFiltersWithNominated(attempt, own)
    if (!verdict) return [own]
    verdicts.set(own.name, verdict)
  }
  if (only) for (const { name } of nodes) if (!only.has(name)) verdicts.set(name, notEligible)
  const candidates = only ? nodes.filter(({ name }) => only.has(name)) : nodes
  const hasFilters = attempt.profile.at('filter').length > 0
  const enough =
    hasFilters || extenders.length > 0 ? enoughNodes(candidates.length, percentageOfNodesToScore) : 1
  const found: NodeInfo[] = []
  let looked = 0
  const start = candidates.length === 0 ? 0 : position.next % candidates.length
  for (; looked < candidates.length && found.length < enough; looked++) {
    const node = candidates[(start + looked) % candidates.length]!
    if (node === own) continue
    const verdict = runFiltersWithNominated(attempt, node)
    if (verdict) verdicts.set(node.name, verdict)
    else found.push(node)
  }
  position.next = start + looked
  return found
}

async function askExtenders(
  attempt: Attempt,
  extenders: readonly Extender[],
  nodes: readonly NodeInfo[],
  verdicts: Map<string, Verdict>,
): Promise<readonly NodeInfo[]> {
  let left = nodes
  for (const extender of extenders) {
    if (left.length === 0 || !extender.isInterestedIn(attempt.pod.pod)) continue
    left = await extender.filter(attempt.pod.pod, left, verdicts)
  }
  return left
}

async function chooseBest(
  attempt: Attempt,
  { random, extenders }: SearchOptions,
  nodes: readonly NodeInfo[],
): Promise<NodeInfo> {
  const totals = scoreNodes(attempt, nodes)
  for (const extender of extenders) {
    if (!extender.isInterestedIn(attempt.pod.pod)) continue
    for (const [name, score] of await extender.prioritize(attempt.pod.pod, nodes))
      totals.set(name, (totals.get(name) ?? 0) + score)
  }
  let best = nodes[0]!
  let bestScore = Number.NEGATIVE_INFINITY
  let ties = 0
  for (const node of nodes) {
    const score = totals.get(node.name) ?? 0
    if (score > bestScore) {
      best = node
      bestScore = score
      ties = 1
    } else if (score === bestScore && random.below(++ties) === 0) best = node
  }
  return best
}

/** The sum of all plug-ins' scores of each node, by name. */
function scoreNodes(attempt: Attempt, nodes: readonly NodeInfo[]): Map<string, number> {
  const totals = new Map<string, number>()
  for (const plugin of attempt.profile.at('preScore'))
    if (plugin.preScore(attempt, nodes) === skip) attempt.skipped.add(`score/${plugin.name}`)
  for (const plugin of attempt.profile.at('score')) {
    if (attempt.skipped.has(`score/${plugin.name}`)) continue
    const scores: NodeScore[] = nodes.map(node => ({ node, score: plugin.score(attempt, node) }))
    plugin.normalize?.(attempt, scores)
    const weight = attempt.profile.weights.get(plugin.name) ?? 1
    for (const { node, score } of scores) {
      if (!(score >= 0 && score <= highestScore))
        throw new RangeError(
          `plugin ${plugin.name} gave node ${node.name} the score ${score}; it has to be from 0 to ${highestScore}`,
        )
      totals.set(node.name, (totals.get(node.name) ?? 0) + score * weight)
    }
  }
  return totals
}

/** Upstream's sentence for the pod's condition and event. */
export function describeFailure({ verdicts, preFilter }: Failure, all: number, postFilter = ''): string {
  let text = `0/${all} nodes are available:`
  if (preFilter) text += ` ${preFilter.reasons.join(', ')}.`
  else {
    const counts = countReasons(verdicts.values())
    if (counts.length > 0) text += ` ${counts.join(', ')}.`
  }
  return postFilter === '' ? text : `${text} ${postFilter}`
}

/** `3 Insufficient cpu` and so on, sorted as text. */
export function countReasons(verdicts: Iterable<Verdict>): string[] {
  const counts = new Map<string, number>()
  for (const { reasons } of verdicts)
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].map(([reason, count]) => `${count} ${reason}`).sort((a, b) => (a < b ? -1 : 1))
}
