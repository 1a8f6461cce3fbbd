import { Pod } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import { type DeepReadonly, type LabelSelector, labelSelectorAsSelector } from '@coxswain/apimachinery'
import { minOf } from '@coxswain/kit'
import {
  type Attempt,
  addPod,
  copyAttempt,
  describeReasons,
  removePod,
  runFiltersWithNominated,
} from './cycle.ts'
import type { NodeVictims } from './extender.ts'
import type { NodeInfo } from './node-info.ts'
import {
  leaverOf,
  type PostFilterResult,
  type SchedulerHandle,
  type SchedulerPlugin,
  unresolvable,
  type Verdict,
} from './plugin.ts'
import type { PodInfo, PodView } from './pod-info.ts'
import { tellPreempted } from './pod-status.ts'

export interface PreemptionArgs {
  /** @default 10 */
  readonly minCandidateNodesPercentage?: number
  /** @default 100 */
  readonly minCandidateNodesAbsolute?: number
}

/** Makes a pod leave for another. Resolves when it is on its way. */
export type Evict = (victim: PodView, preemptor: PodView, node: string) => Promise<void>

/** The most important victim first. */
type Candidate = NodeVictims

type BudgetView = DeepReadonly<PodDisruptionBudget>

const notHelpful: Verdict = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ['Preemption is not helpful for scheduling'],
}
const nobody: Verdict = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ['No preemption victims found for incoming pod'],
}

/**
 * Lets less important pods go where that makes room for a more important one. They are told beside the next attempts; until
 * the last of them is on its way the pod that they make room for is not tried again.
 */
export function createPreemption(evict: Evict, args: PreemptionArgs = {}): SchedulerPlugin {
  const running: Running = new Map()
  return {
    name: 'DefaultPreemption',
    preEnqueue: ({ metadata: { uid } }, handle) =>
      isRunning(running, uid, handle)
        ? unresolvable('waiting for the preemption for this pod to be finished')
        : undefined,
    postFilter: async (cycle, failures): Promise<PostFilterResult> => {
      const attempt = cycle as Attempt // the scheduler makes no other cycles
      const objection = findObjection(attempt, failures)
      if (objection) return { message: `preemption: ${objection}` }
      const { candidates: found, verdicts } = findCandidates(attempt, failures, args)
      let candidates: readonly Candidate[]
      try {
        candidates = await askExtenders(attempt, found)
      } catch (error) {
        return { message: `preemption: ${(error as Error).message}` }
      }
      if (found.length > 0 && candidates.length === 0)
        return { message: 'preemption: no candidate node for preemption' }
      const best = candidates.reduce<Candidate | undefined>(
        (leader, next) => (leader && !isBetter(next, leader) ? leader : next),
        undefined,
      )
      if (!best)
        return {
          nominatedNode: '',
          message: `preemption: ${describeReasons(verdicts, attempt.nodes.length)}`,
        }
      makeRoom(attempt, best, { evict, running })
      return { nominatedNode: best.node.name, message: '' }
    },
    wakesOn: event => leaverOf(event) !== undefined,
  }
}

/** Pods for which others are made to leave, by uid, with the last of those that leave once it is told. */
type Running = Map<string, PodView | undefined>

function isRunning(running: Running, uid: string, handle: SchedulerHandle): boolean {
  if (!running.has(uid)) return false
  const last = running.get(uid)
  if (!last) return true
  const { namespace = '', name } = last.metadata
  const found = handle.get(Pod, { namespace, name })
  return found !== undefined && !found.metadata.deletionTimestamp
}

interface Eviction {
  readonly evict: Evict
  readonly running: Running
}

function makeRoom(attempt: Attempt, candidate: Candidate, eviction: Eviction): void {
  const { pod, handle } = attempt
  const victims = candidate.victims.filter(victim => !victim.pod.metadata.deletionTimestamp)
  if (victims.length === 0) return
  const { running } = eviction
  running.set(pod.uid, undefined)
  handle.spawn(async () => {
    let isHeard = false
    try {
      await takeBackPromises(attempt, candidate.node.name)
      isHeard = await makeLeave(attempt, { ...candidate, victims }, eviction)
    } catch (error) {
      handle.env.log.warn('preemption failed', { pod: pod.pod.metadata.name, error })
    }
    running.delete(pod.uid)
    if (!isHeard) handle.activate(pod.uid)
  })
}

/** Extenders may spare nodes and pods. */
async function askExtenders(
  { extenders, pod: { pod } }: Attempt,
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> {
  let left = candidates
  for (const extender of extenders)
    if (left.length > 0 && extender.canPreempt && extender.isInterestedIn(pod))
      left = await extender.preempt(pod, left)
  return left
}

/**
 * The last victim goes when all the others are on their way: then there is room. Whether an event will say that it has
 * gone; one that was only on its way to the node has gone already.
 */
async function makeLeave(
  { pod, handle }: Attempt,
  { node, victims }: Candidate,
  { evict, running }: Eviction,
): Promise<boolean> {
  const tell = async (victim: PodInfo) => {
    const isWaiting = handle.preempt(victim.uid)
    if (isWaiting)
      tellPreempted(handle.events, { victim: victim.pod, preemptor: pod.pod, node: node.name, isWaiting })
    else await evict(victim.pod, pod.pod, node.name)
    return !isWaiting
  }
  await Promise.all(victims.slice(0, -1).map(tell))
  const last = victims.at(-1)!
  running.set(pod.uid, last.pod)
  return await tell(last)
}

/** Less important pods that were promised a place on `node` have to look for another. */
async function takeBackPromises({ pod, nominations, handle }: Attempt, node: string): Promise<void> {
  for (const { uid, priority, pod: other } of nominations.on(node)) {
    if (priority >= pod.priority) continue
    nominations.delete(uid)
    if (!other.status?.nominatedNodeName) continue
    const key = { namespace: other.metadata.namespace ?? '', name: other.metadata.name }
    const patch = { metadata: { uid }, status: { nominatedNodeName: null } }
    await handle.client.patch(Pod, key, patch, { type: 'strategic', subresource: 'status' }).catch(() => {})
  }
}

/** Why this pod may not make others leave. */
function findObjection(
  { pod, nodes, nominations }: Attempt,
  failures: ReadonlyMap<string, Verdict>,
): string | undefined {
  if (pod.pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const promised = nominations.nodeOf(pod.uid) ?? pod.pod.status?.nominatedNodeName
  if (!promised || failures.get(promised)?.code === 'UnschedulableAndUnresolvable') return undefined
  const node = nodes.find(({ name }) => name === promised)
  for (const other of node?.pods() ?? [])
    if (other.priority < pod.priority && isLeaving(other.pod))
      return 'not eligible due to a terminating pod on the nominated node.'
  return undefined
}

/** Whether a pod goes because a preemption told it to. */
function isLeaving({ metadata, status }: PodView): boolean {
  if (!metadata.deletionTimestamp) return false
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  return condition?.status === 'True' && condition.reason === 'PreemptionByScheduler'
}

function findCandidates(
  attempt: Attempt,
  failures: ReadonlyMap<string, Verdict>,
  { minCandidateNodesPercentage = 10, minCandidateNodesAbsolute = 100 }: PreemptionArgs,
): { candidates: Candidate[]; verdicts: Verdict[] } {
  const { nodes, handle } = attempt
  const possible = nodes.filter(({ name }) => failures.get(name)?.code === 'Unschedulable')
  const verdicts = new Array<Verdict>(nodes.length - possible.length).fill(notHelpful)
  const share = Math.trunc((possible.length * minCandidateNodesPercentage) / 100)
  const enough = Math.min(possible.length, Math.max(share, minCandidateNodesAbsolute))
  const budgets = handle.list(PodDisruptionBudget)
  const start = possible.length === 0 ? 0 : handle.env.random.below(possible.length)
  const candidates: Candidate[] = []
  let isWithoutViolation = false
  for (let index = 0; index < possible.length; index++) {
    if (candidates.length >= enough && isWithoutViolation) break
    const found = chooseVictims(attempt, possible[(start + index) % possible.length]!, budgets)
    if ('code' in found) verdicts.push(found)
    else {
      candidates.push(found)
      if (found.violations === 0) isWithoutViolation = true
    }
  }
  return { candidates, verdicts }
}

/** As few as possible of those less important, those with a disruption budget to spare rather than others. */
function chooseVictims(
  attempt: Attempt,
  original: NodeInfo,
  budgets: readonly BudgetView[],
): Candidate | Verdict {
  const trial = copyAttempt(attempt)
  const node = original.clone()
  const lesser = [...node.pods()].filter(({ priority }) => priority < attempt.pod.priority)
  if (lesser.length === 0) return nobody
  for (const pod of lesser) removePod(trial, node, pod)
  const verdict = runFiltersWithNominated(trial, node)
  if (verdict) return verdict
  lesser.sort(compareImportance)
  const { violating, others } = splitByBudget(lesser, budgets)
  const victims: PodInfo[] = []
  const mayStay = (pod: PodInfo) => {
    addPod(trial, node, pod)
    if (!runFiltersWithNominated(trial, node)) return true
    removePod(trial, node, pod)
    victims.push(pod)
    return false
  }
  const violations = violating.filter(pod => !mayStay(pod)).length
  for (const pod of others) mayStay(pod)
  if (victims.length === 0) return nobody
  return { node: original, victims: victims.sort(compareImportance), violations }
}

/** The more important first; of equals the one that has run longer. */
function compareImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b)
}

/** Pods that have not started count as the youngest. */
function startOf({ pod }: PodInfo): number {
  const { startTime } = pod.status ?? {}
  return startTime === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(startTime)
}

function splitByBudget(pods: readonly PodInfo[], budgets: readonly BudgetView[]) {
  const allowed = new Map<BudgetView, number>()
  const violating: PodInfo[] = []
  const others: PodInfo[] = []
  for (const info of pods) {
    const { namespace, name, labels = {} } = info.pod.metadata
    let isViolated = false
    for (const budget of budgets) {
      if (budget.metadata.namespace !== namespace || Object.keys(labels).length === 0) continue
      const selector = labelSelectorAsSelector(budget.spec?.selector as LabelSelector | undefined)
      if (selector.isEmpty || !selector.matches(labels)) continue
      if (budget.status?.disruptedPods?.[name] !== undefined) continue
      const left = (allowed.get(budget) ?? budget.status?.disruptionsAllowed ?? 0) - 1
      allowed.set(budget, left)
      if (left < 0) isViolated = true
    }
    if (isViolated) violating.push(info)
    else others.push(info)
  }
  return { violating, others }
}

/** Sums are shifted so that negative priorities add up too. */
const priorityShift = 2 ** 31

/** Upstream's order: budgets, the most important victim, the sum of priorities, their number, how long they ran. */
function isBetter(a: Candidate, b: Candidate): boolean {
  const order = [
    a.violations - b.violations,
    highest(a) - highest(b),
    sum(a) - sum(b),
    a.victims.length - b.victims.length,
    earliestOfHighest(b) - earliestOfHighest(a),
  ]
  return (order.find(difference => difference !== 0) ?? 0) < 0
}

function highest({ victims }: Candidate): number {
  return victims[0]?.priority ?? Number.NEGATIVE_INFINITY
}

function sum({ victims }: Candidate): number {
  return victims.reduce((total, { priority }) => total + priority + priorityShift, 0)
}

function earliestOfHighest(candidate: Candidate): number {
  const starts = candidate.victims.filter(({ priority }) => priority === highest(candidate)).map(startOf)
  return minOf(starts)
}
