import type { Random } from '@coxswain/kit'
import type { Extender } from './extender.ts'
import type { NodeInfo } from './node-info.ts'
import type { Nominations } from './nominations.ts'
import {
  type Cycle,
  type CycleData,
  highestScore,
  type NodeScore,
  type SchedulerPlugin,
  skip,
  type Verdict,
} from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import type { CompiledProfile } from './profile.ts'

/** One scheduling attempt. */
export interface Attempt extends Cycle {
  readonly profile: CompiledProfile
  readonly nominations: Nominations
  readonly extenders: readonly Extender[]
  /** The filters that are not skipped for this pod; set by preFilter. */
  filters: readonly FilterPlugin[]
}

type FilterPlugin = SchedulerPlugin & Required<Pick<SchedulerPlugin, 'filter'>>

/** No node was found, and why. */
export interface Failure {
  readonly kind: 'failure'
  /** Of the nodes that were filtered. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** Set if a preFilter plug-in rejected the pod. */
  readonly preFilter?: Verdict
  readonly rejectedBy: readonly string[]
  /** Those of them that wait for an external event. */
  readonly pending: readonly string[]
}

export interface Found {
  readonly kind: 'found'
  readonly node: NodeInfo
}

/** All nodes are filtered if there are fewer than this. */
const alwaysAll = 100

/** The number of feasible nodes to find before scoring. */
function enoughNodes(all: number, percentage = 0): number {
  if (all < alwaysAll) return all
  const share = percentage > 0 ? percentage : Math.max(5, 50 - Math.trunc(all / 125))
  return Math.max(alwaysAll, Math.trunc((all * share) / 100))
}

/** The only eligible nodes, and the plug-ins that restrict them. */
interface Narrowed {
  readonly only: ReadonlySet<string>
  readonly by: readonly string[]
}

/** Not a plug-in's name: pods that extenders reject are retried after any event. */
const byExtender = 'Extender'

/** Runs the preFilter plug-ins. Undefined if all nodes are eligible. */
function runPreFilters(attempt: Attempt): Narrowed | Verdict | undefined {
  let only: Set<string> | undefined
  const narrowedBy: string[] = []
  const skipped = new Set<SchedulerPlugin>()
  for (const plugin of attempt.profile.at('preFilter')) {
    const result = plugin.preFilter(attempt)
    if (result === undefined) continue
    if (result === skip) {
      skipped.add(plugin)
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
  attempt.filters = attempt.profile.at('filter').filter(plugin => !skipped.has(plugin))
  return only && { only, by: narrowedBy.sort() }
}

/** The first verdict against `node` in its current state. */
function runFilters(attempt: Attempt, node: NodeInfo): Verdict | undefined {
  for (const plugin of attempt.filters) {
    const verdict = runFilter(plugin, attempt, node)
    if (verdict) return { ...verdict, plugin: plugin.name }
  }
  return undefined
}

/** Prefixes errors with the plug-in that failed. */
function runFilter(plugin: FilterPlugin, attempt: Attempt, node: NodeInfo): Verdict | undefined {
  try {
    return plugin.filter(attempt, node)
  } catch (error) {
    throw new Error(`running "${plugin.name}" filter plugin: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Filters with the pods nominated to `node` that have at least the same priority. They may arrive or not, so the pod has to fit
 * both with and without them.
 */
export function runFiltersWithNominated(attempt: Attempt, node: NodeInfo): Verdict | undefined {
  const nominated = attempt.nominations
    .on(node.name)
    .filter(other => other.uid !== attempt.pod.uid && other.priority >= attempt.pod.priority)
  if (nominated.length > 0) {
    const crowded = copyAttempt(attempt)
    const copy = node.clone()
    for (const other of nominated) addPod(crowded, copy, other)
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
  /** Where the last search ended, so that every node is considered. */
  readonly position: { next: number }
}

/** Finds the best node for the pod of an attempt. */
export async function findNode(attempt: Attempt, options: SearchOptions): Promise<Found | Failure> {
  const narrowed = runPreFilters(attempt)
  if (narrowed && 'code' in narrowed) {
    if (narrowed.code === 'Error') throw new Error(narrowed.reasons.join(', '))
    const rejectedBy = [narrowed.plugin ?? '']
    const pending = narrowed.code === 'Pending' ? rejectedBy : []
    return { kind: 'failure', verdicts: new Map(), preFilter: narrowed, rejectedBy, pending }
  }
  const verdicts = new Map<string, Verdict>()
  const nominated = await findNominated(attempt, options, narrowed, verdicts)
  if (nominated) return { kind: 'found', node: nominated }
  const feasible = findFeasible(attempt, options, narrowed, verdicts)
  const left = await runExtenderFilters(attempt, options.extenders, feasible, verdicts)
  if (left.length === 0) {
    const rejectedBy = new Set(narrowed?.by)
    const pending = new Set<string>()
    for (const { code, plugin, reasons } of verdicts.values()) {
      if (code === 'Error') throw new Error(reasons.join(', '))
      if (plugin !== undefined) rejectedBy.add(plugin)
      if (plugin !== undefined && code === 'Pending') pending.add(plugin)
    }
    if (feasible.length > 0) rejectedBy.add(byExtender)
    return { kind: 'failure', verdicts, rejectedBy: [...rejectedBy], pending: [...pending] }
  }
  const node = left.length === 1 ? left[0]! : await chooseBest(attempt, options, left)
  return { kind: 'found', node }
}

/** The nominated node of the pod, if it fits there. */
async function findNominated(
  attempt: Attempt,
  { extenders }: SearchOptions,
  narrowed: Narrowed | undefined,
  verdicts: Map<string, Verdict>,
): Promise<NodeInfo | undefined> {
  const nominated = attempt.nominations.nodeOf(attempt.pod.uid)
  const node = nominated === undefined ? undefined : attempt.nodes.find(({ name }) => name === nominated)
  if (!node || (narrowed && !narrowed.only.has(node.name))) return undefined
  const verdict = runFiltersWithNominated(attempt, node)
  if (verdict) {
    verdicts.set(node.name, verdict)
    return undefined
  }
  return (await runExtenderFilters(attempt, extenders, [node], verdicts))[0]
}

function findFeasible(
  attempt: Attempt,
  { percentageOfNodesToScore, position, extenders }: SearchOptions,
  narrowed: Narrowed | undefined,
  verdicts: Map<string, Verdict>,
): NodeInfo[] {
  const { nodes, profile } = attempt
  if (narrowed) excludeOthers(nodes, narrowed, verdicts)
  const candidates = narrowed ? nodes.filter(({ name }) => narrowed.only.has(name)) : nodes
  const isScored = profile.at('score').length > 0 || extenders.length > 0
  const enough = isScored ? enoughNodes(candidates.length, percentageOfNodesToScore) : 1
  const found: NodeInfo[] = []
  let looked = 0
  const start = candidates.length === 0 ? 0 : position.next % candidates.length
  for (; looked < candidates.length && found.length < enough; looked++) {
    const node = candidates[(start + looked) % candidates.length]!
    const verdict = runFiltersWithNominated(attempt, node)
    if (verdict) verdicts.set(node.name, verdict)
    else found.push(node)
  }
  position.next = start + looked
  return found
}

function excludeOthers(nodes: readonly NodeInfo[], { only, by }: Narrowed, verdicts: Map<string, Verdict>) {
  const verdict: Verdict = {
    code: 'UnschedulableAndUnresolvable',
    reasons: [`node(s) didn't satisfy plugin(s) [${by.join(' ')}]`],
  }
  for (const { name } of nodes) if (!only.has(name)) verdicts.set(name, verdict)
}

async function runExtenderFilters(
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
    const scores = await extender.prioritize(attempt.pod.pod, nodes)
    for (const [index, { name }] of nodes.entries()) totals[index]! += scores.get(name) ?? 0
  }
  let best = 0
  let ties = 1
  for (let index = 1; index < nodes.length; index++) {
    if (totals[index]! > totals[best]!) {
      best = index
      ties = 1
    } else if (totals[index] === totals[best] && random.below(++ties) === 0) best = index
  }
  return nodes[best]!
}

/** The weighted sum of all scores of each node, in the order of the nodes. */
function scoreNodes(attempt: Attempt, nodes: readonly NodeInfo[]): number[] {
  const { profile } = attempt
  const totals = new Array<number>(nodes.length).fill(0)
  const skipped = new Set<SchedulerPlugin>()
  for (const plugin of profile.at('preScore'))
    if (plugin.preScore(attempt, nodes) === skip) skipped.add(plugin)
  const scores: NodeScore[] = nodes.map(node => ({ node, score: 0 }))
  for (const plugin of profile.at('score')) {
    if (skipped.has(plugin)) continue
    for (const entry of scores) entry.score = plugin.score(attempt, entry.node)
    plugin.normalize?.(attempt, scores)
    const weight = profile.weights.get(plugin.name) ?? 1
    for (let index = 0; index < scores.length; index++) {
      const { node, score } = scores[index]!
      if (!(score >= 0 && score <= highestScore))
        throw new RangeError(
          `plugin ${plugin.name} returned the score ${score} for node ${node.name}, not in the range 0 to ${highestScore}`,
        )
      totals[index]! += score * weight
    }
  }
  return totals
}

/** Upstream's message for the pod's condition and event. */
export function describeFailure({ verdicts, preFilter }: Failure, all: number, postFilter = ''): string {
  const text = preFilter
    ? `0/${all} nodes are available: ${preFilter.reasons.join(', ')}.`
    : describeReasons(verdicts.values(), all)
  return postFilter === '' ? text : `${text} ${postFilter}`
}

export function describeReasons(verdicts: Iterable<Verdict>, all: number): string {
  const text = `0/${all} nodes are available:`
  const counts = countReasons(verdicts)
  return counts.length === 0 ? text : `${text} ${counts.join(', ')}.`
}

/** `3 Insufficient cpu` and so on, sorted as text. */
function countReasons(verdicts: Iterable<Verdict>): string[] {
  const counts = new Map<string, number>()
  for (const { reasons } of verdicts)
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].map(([reason, count]) => `${count} ${reason}`).sort((a, b) => (a < b ? -1 : 1))
}
