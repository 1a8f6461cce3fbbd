import { Pod } from '@coxswain/api/core/v1'
import { PodDisruptionBudget } from '@coxswain/api/policy/v1'
import type { DeepReadonly, LabelSelector } from '@coxswain/apimachinery/meta'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { type PodView, podCondition } from '@coxswain/kinds'
import { minOf } from '@coxswain/kit'
import {
  type Attempt,
  addPod,
  copyAttempt,
  describeReasons,
  removePod,
  runFiltersWithNominated,
} from './cycle.ts'
import type { Evict } from './evict.ts'
import type { NodeVictims } from './extender.ts'
import type { NodeInfo } from './node-info.ts'
import {
  type PostFilterResult,
  removedPodOf,
  type SchedulerHandle,
  type SchedulerPlugin,
  unresolvable,
  type Verdict,
} from './plugin.ts'
import type { PodInfo } from './pod-info.ts'
import { recordPreempted } from './pod-status.ts'

/** The arguments of the DefaultPreemption plug-in. */
export interface PreemptionArgs {
  /** @default 10 */
  readonly minCandidateNodesPercentage?: number
  /** @default 100 */
  readonly minCandidateNodesAbsolute?: number
}

/** The highest priority first. */
type Candidate = NodeVictims

type BudgetView = DeepReadonly<PodDisruptionBudget>

const notHelpful: Verdict = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ['Preemption is not helpful for scheduling'],
}
const noVictims: Verdict = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ['No preemption victims found for incoming pod'],
}

/**
 * Preempts pods of lower priority to make a pod schedulable. They are evicted in the background; until the deletion of the last
 * victim was requested the preemptor is not retried.
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
      const attempt = cycle as Attempt // the scheduler creates no other cycles
      const ineligibility = findIneligibility(attempt, failures)
      if (ineligibility) return { message: `preemption: ${ineligibility}` }
      const { candidates: found, verdicts } = findCandidates(attempt, failures, args)
      let candidates: readonly Candidate[]
      try {
        candidates = await runExtenderPreempt(attempt, found)
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
      preempt(attempt, best, { evict, running })
      return { nominatedNode: best.node.name, message: '' }
    },
    wakesOn: event => removedPodOf(event) !== undefined,
  }
}

/** Preemptors by uid, with the last victim once its deletion was requested. */
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

function preempt(attempt: Attempt, candidate: Candidate, eviction: Eviction): void {
  const { pod, handle } = attempt
  const victims = candidate.victims.filter(victim => !victim.pod.metadata.deletionTimestamp)
  if (victims.length === 0) return
  const { running } = eviction
  running.set(pod.uid, undefined)
  handle.spawn(async () => {
    let isReported = false
    try {
      await clearNominations(attempt, candidate.node.name)
      isReported = await evictVictims(attempt, { ...candidate, victims }, eviction)
    } catch (error) {
      handle.env.log.warn('preemption failed', { pod: pod.pod.metadata.name, error })
    }
    running.delete(pod.uid)
    if (!isReported) handle.activate(pod.uid)
  })
}

/** Extenders may reject nodes and victims. */
async function runExtenderPreempt(
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
 * Evicts the last victim after all others, when there is room for the preemptor. Resolves with whether an event will report its
 * deletion; a victim that was not bound yet is already removed.
 */
async function evictVictims(
  { pod, handle }: Attempt,
  { node, victims }: Candidate,
  { evict, running }: Eviction,
): Promise<boolean> {
  const record = async (victim: PodInfo) => {
    const isWaiting = handle.preempt(victim.uid)
    if (isWaiting)
      recordPreempted(handle.events, { victim: victim.pod, preemptor: pod.pod, node: node.name, isWaiting })
    else await evict(victim.pod, pod.pod, node.name)
    return !isWaiting
  }
  await Promise.all(victims.slice(0, -1).map(record))
  const last = victims.at(-1)!
  running.set(pod.uid, last.pod)
  return await record(last)
}

/** Clears the nominations of pods with lower priority on `node`. */
async function clearNominations({ pod, nominations, handle }: Attempt, node: string): Promise<void> {
  for (const { uid, priority, pod: other } of nominations.on(node)) {
    if (priority >= pod.priority) continue
    nominations.delete(uid)
    if (!other.status?.nominatedNodeName) continue
    const key = { namespace: other.metadata.namespace ?? '', name: other.metadata.name }
    const patch = { metadata: { uid }, status: { nominatedNodeName: null } }
    await handle.client.patch(Pod, key, patch, { type: 'strategic', subresource: 'status' }).catch(() => {})
  }
}

/** Why this pod is not eligible to preempt others. */
function findIneligibility(
  { pod, nodes, nominations }: Attempt,
  failures: ReadonlyMap<string, Verdict>,
): string | undefined {
  if (pod.pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const nominated = nominations.nodeOf(pod.uid) ?? pod.pod.status?.nominatedNodeName
  if (!nominated || failures.get(nominated)?.code === 'UnschedulableAndUnresolvable') return undefined
  const node = nodes.find(({ name }) => name === nominated)
  for (const other of node?.pods() ?? [])
    if (other.priority < pod.priority && isBeingPreempted(other.pod))
      return 'not eligible due to a terminating pod on the nominated node.'
  return undefined
}

/** Whether a pod is terminating because of a preemption. */
function isBeingPreempted({ metadata, status }: PodView): boolean {
  if (!metadata.deletionTimestamp) return false
  const condition = podCondition({ status }, 'DisruptionTarget')
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

/** As few pods of lower priority as possible, preferring those whose disruption budget allows it. */
function chooseVictims(
  attempt: Attempt,
  original: NodeInfo,
  budgets: readonly BudgetView[],
): Candidate | Verdict {
  const trial = copyAttempt(attempt)
  const node = original.clone()
  const lesser = [...node.pods()].filter(({ priority }) => priority < attempt.pod.priority)
  if (lesser.length === 0) return noVictims
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
  if (victims.length === 0) return noVictims
  return { node: original, victims: victims.sort(compareImportance), violations }
}

/** Higher priority first, then earlier start. */
function compareImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b)
}

/** Pods that have not started count as the latest. */
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

/** Priorities are shifted so that sums of negative ones compare correctly. */
const priorityShift = 2 ** 31

/** Upstream's order: violated budgets, highest victim priority, sum of priorities, number of victims, start time. */
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
