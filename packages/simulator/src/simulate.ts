import type { Operator } from '@coxswain/runtime'
import type { ClusterOptions } from '@coxswain/testing'
import { type Fault, type FaultName, faultNames } from './fault.ts'
import { type Baseline, type Finding, judge, judgeBaseline, type OracleName } from './oracles.ts'
import type { Plan } from './plan.ts'
import { explain } from './report/explain.ts'
import { minimiseFaults } from './search/minimise.ts'
import { planRuns, type SearchPhase } from './search/plans.ts'
import { singleFaults } from './search/single-faults.ts'
import { learnMask } from './state/compare.ts'
import {
  type CheckpointName,
  type Invariant,
  performRun,
  prepareStage,
  type RunResult,
  type Scenario,
  type ScenarioContext,
  type Stage,
} from './world/run.ts'

/** Options of {@link simulate}. */
export interface SimulateOptions {
  /** What users do. */
  readonly scenario: Scenario
  /** What matters of the end. @default everything that the operator wrote, and the objects it reconciles */
  readonly desired?: (context: ScenarioContext) => Promise<unknown>
  /** What has to hold after every write to the cluster. */
  readonly always?: readonly Invariant[]
  /** When to stop searching. @default 500 runs */
  readonly budget?: { readonly runs?: number }
  /** @default 1 */
  readonly seed?: number
  /** Processes of the operator; more than one elect a leader. @default 1 */
  readonly replicas?: number
  /** Faults to inject. @default all */
  readonly only?: readonly FaultName[]
  /** Oracles to leave out. */
  readonly without?: readonly OracleName[]
  /** The cluster of each run. @default garbage collection, namespace deletion and service accounts; no nodes */
  readonly cluster?: Omit<ClusterOptions, 'env' | 'log'>
  /** Stop at this many failures that differ in what is wrong. @default 1 */
  readonly maxFailures?: number
  /** Called after every run. */
  readonly onRun?: (progress: Progress) => void
}

/** How far a simulation is. */
export interface Progress {
  readonly runs: number
  readonly failures: number
  readonly phase: SearchPhase | 'undisturbed'
}

/** A failure, with as few faults as it takes. */
export interface Failure {
  readonly plan: Plan
  readonly findings: readonly Finding[]
  /** The failure in words, several lines. */
  readonly text: string
}

/** The result of a simulation. */
export interface Report {
  readonly failures: readonly Failure[]
  readonly runs: number
  /** How many single faults there are: one for every kind of fault at every write and watch event. */
  readonly singleFaults: number
  /** Whether each of them was tried. */
  readonly complete: boolean
}

/** Undisturbed runs, from which is learnt what depends on chance alone. */
const undisturbedRuns = 3

/**
 * Runs an operator in a world of its own, again and again: first undisturbed, then with every single fault at each of its writes and watch
 * events, then with several. Each run is compared with the undisturbed one. Resolves with what was found; rejects only if the
 * scenario cannot be played at all.
 */
export async function simulate(operator: Operator, options: SimulateOptions): Promise<Report> {
  const { seed = 1, budget = {}, maxFailures = 1 } = options
  const maxRuns = budget.runs ?? 500
  const without = new Set(options.without)
  const stage = await prepareStage(stageOf(operator, options))
  const failures: Failure[] = []
  let runs = 0
  const run = async (plan: Plan): Promise<RunResult> => {
    runs++
    return await performRun(stage, plan)
  }
  const undisturbed: RunResult[] = []
  for (let index = 0; index < undisturbedRuns; index++) {
    undisturbed.push(await run({ seed: seed + index, faults: [] }))
    options.onRun?.({ runs, failures: failures.length, phase: 'undisturbed' })
  }
  const [first] = undisturbed
  const findings = judgeBaseline(first!, without)
  if (findings.length > 0) {
    failures.push({ plan: first!.plan, findings, text: explain(first!, findings) })
    return { failures, runs, singleFaults: 0, complete: false }
  }
  const baseline: Baseline = { result: first!, masks: learnMasks(undisturbed) }
  const singles = singleFaults(first!, new Set(options.only ?? faultNames))
  const seen = new Set<string>()
  let tried = 0
  for (const { phase, plan } of planRuns(singles, seed)) {
    if (runs >= maxRuns || failures.length >= maxFailures) break
    const result = await run(plan)
    if (phase === 'single') tried++
    const found = result.struck === 0 ? [] : judge(result, baseline, without)
    const signature = signatureOf(found)
    if (found.length > 0 && !seen.has(signature)) {
      seen.add(signature)
      failures.push(await minimise(plan, { run, baseline, without, signature }))
    }
    options.onRun?.({ runs, failures: failures.length, phase })
  }
  return { failures, runs, singleFaults: singles.length, complete: tried === singles.length }
}

function stageOf(operator: Operator, options: SimulateOptions): Omit<Stage, 'snapshot'> {
  const { scenario, desired, always = [], replicas = 1, cluster = {} } = options
  return { operator, scenario, always, replicas, cluster, ...(desired && { desired }) }
}

function learnMasks(undisturbed: readonly RunResult[]): Baseline['masks'] {
  const masks = new Map<CheckpointName, ReadonlySet<string>>()
  for (const name of ['end', 'restart', 'deletion'] as const) {
    const states = undisturbed.flatMap(({ checkpoints }) =>
      checkpoints.filter(checkpoint => checkpoint.name === name).map(({ state }) => state),
    )
    masks.set(name, learnMask(states))
  }
  return masks
}

const signatureOf = (findings: readonly Finding[]): string =>
  JSON.stringify(findings.map(({ oracle, details }) => [oracle, details]))

interface Search {
  readonly run: (plan: Plan) => Promise<RunResult>
  readonly baseline: Baseline
  readonly without: ReadonlySet<OracleName>
  readonly signature: string
}

/** The same failure with as few faults as it takes. */
async function minimise(plan: Plan, search: Search): Promise<Failure> {
  const judged = async (faults: readonly Fault[]) => {
    const result = await search.run({ ...plan, faults })
    return { result, findings: judge(result, search.baseline, search.without) }
  }
  const faults = await minimiseFaults(plan.faults, async fewer => (await judged(fewer)).findings.length > 0)
  const { result, findings } = await judged(faults)
  return { plan: result.plan, findings, text: explain(result, findings) }
}
