import type { Operator } from '@coxswain/runtime'
import { type FaultName, faultNames } from './fault.ts'
import type { OracleName } from './oracle-names.ts'
import { type Baseline, type Finding, hasCompleted, judge, judgeAlone, judgeDetour } from './oracles.ts'
import type { Plan } from './plan.ts'
import { explain } from './report/explain.ts'
import { hashTrace } from './report/trace-hash.ts'
import { directOf } from './scenario/action.ts'
import { minimise } from './search/minimise.ts'
import { planRuns, type SearchPhase, type SearchSpace } from './search/plans.ts'
import { singleFaults } from './search/single-faults.ts'
import { learnMask } from './state/compare.ts'
import { type CheckpointName, performRun, type RunResult } from './world/run.ts'
import { prepareStage, type Stage, type StageOptions } from './world/stage.ts'
import type { TraceEntry } from './world/trace.ts'

/** Options of {@link simulate}. */
export interface SimulateOptions extends Partial<Omit<StageOptions, 'operator'>> {
  /** When to stop searching, in runs or in seconds of the machine's clock. @default 500 runs */
  readonly budget?: { readonly runs?: number; readonly seconds?: number }
  /** @default 1 */
  readonly seed?: number
  /** Faults to inject. @default all */
  readonly only?: readonly FaultName[]
  /** Oracles to leave out. */
  readonly without?: readonly OracleName[]
  /** Stop at this many failures that differ in what is wrong. @default 1 */
  readonly maxFailures?: number
  /** Called after every run. */
  readonly onRun?: (progress: Progress) => void
  /** The machine's clock in milliseconds, for a budget in seconds. */
  readonly now?: () => number
}

/** How far a simulation is. */
export interface Progress {
  readonly runs: number
  readonly failures: number
  readonly phase: SearchPhase | 'undisturbed' | 'minimise'
}

/** A failure, with as few faults and actions as it takes. */
export interface Failure {
  readonly plan: Plan
  readonly findings: readonly Finding[]
  /** The failure in words, several lines. */
  readonly text: string
  /** Everything that happened in the run. */
  readonly trace: readonly TraceEntry[]
  /** A hash of the trace: a replay has the same. */
  readonly hash: string
}

/** The result of a simulation. */
export interface Report {
  readonly failures: readonly Failure[]
  readonly runs: number
  /** The names of the scenarios that were played. */
  readonly scenarios: readonly string[]
  /** How many single faults there are: one for every kind of fault at every write, read, watch event, Pod and call. */
  readonly singleFaults: number
  /** Whether each of them was tried. */
  readonly complete: boolean
  /** How many different states the operator has been in. */
  readonly states: number
}

/**
 * Runs an operator in a world of its own, again and again: first undisturbed, then with every single fault, then with several. Each run
 * is compared with the undisturbed one. Without a scenario, the simulator makes some from the kinds. Resolves with what was found.
 */
export async function simulate(operator: Operator, options: SimulateOptions = {}): Promise<Report> {
  return await new Simulation(await prepareStage(stageOf(operator, options)), options).run()
}

/** Performs the run of a plan again, and says what is wrong with it. */
export async function replay(
  operator: Operator,
  plan: Plan,
  options: SimulateOptions = {},
): Promise<Failure | undefined> {
  return await new Simulation(await prepareStage(stageOf(operator, options)), options).replay(plan)
}

/** The cluster of a simulation: all controllers, each from the first write on to what it works on. */
const defaultCluster = { controllers: 'as-needed' } as const

function stageOf(operator: Operator, options: SimulateOptions): StageOptions {
  const { scenario, desired, always = [], replicas = 1, cluster = {}, services = {}, samples = [] } = options
  return {
    operator,
    always,
    replicas,
    services,
    samples,
    cluster: { ...defaultCluster, ...cluster },
    ...(scenario && { scenario }),
    ...(desired && { desired }),
  }
}

interface PlannedScenario {
  readonly name: string
  readonly plan: Plan
  readonly isTelling: boolean
}

/** A scenario with its undisturbed runs. */
interface Space extends SearchSpace {
  readonly name: string
  readonly baseline: Baseline
}

/** Undisturbed runs, from which is learnt what depends on chance alone. */
const undisturbedRuns = 2

class Simulation {
  readonly #stage: Stage
  readonly #options: SimulateOptions
  readonly #without: ReadonlySet<OracleName>
  readonly #seed: number
  readonly #failures: Failure[] = []
  readonly #signatures = new Set<string>()
  readonly #states = new Set<string>()
  readonly #corpus: { readonly space: Space; readonly faults: Plan['faults'] }[] = []
  readonly #begin: number
  #runs = 0
  #phase: Progress['phase'] = 'undisturbed'

  constructor(stage: Stage, options: SimulateOptions) {
    this.#stage = stage
    this.#options = options
    this.#without = new Set(options.without)
    this.#seed = options.seed ?? 1
    this.#begin = options.now?.() ?? 0
  }

  async run(): Promise<Report> {
    const spaces: Space[] = []
    const scenarios = this.#scenarios()
    for (const scenario of scenarios) {
      if (this.#isDone) break
      const space = await this.#explore(scenario)
      if (space) spaces.push(space)
    }
    const total = spaces.reduce((sum, { singles }) => sum + singles.length, 0)
    let tried = 0
    for (const { phase, space, plan } of planRuns(spaces, { entries: this.#corpus }, this.#seed)) {
      if (this.#isDone) break
      this.#phase = phase
      const result = await this.#perform(plan)
      if (phase === 'single') tried++
      if (this.#visit(result)) this.#corpus.push({ space, faults: plan.faults })
      const findings = result.struck === 0 ? [] : judge(result, space.baseline, this.#without)
      await this.#report(plan, findings, smaller => this.#judgePlan(smaller))
    }
    const complete = tried === total && scenarios.length === spaces.length
    const names = scenarios.map(({ name }) => name)
    const { size } = this.#states
    return {
      failures: this.#failures,
      runs: this.#runs,
      scenarios: names,
      singleFaults: total,
      complete,
      states: size,
    }
  }

  async replay(plan: Plan): Promise<Failure | undefined> {
    const findings = await this.#judgePlan(plan)
    return findings.length === 0 ? undefined : await this.#failureOf(plan, findings)
  }

  get #isDone(): boolean {
    const { budget = {}, maxFailures = 1, now } = this.#options
    if (this.#failures.length >= maxFailures) return true
    if (budget.seconds !== undefined && now) return now() - this.#begin >= budget.seconds * 1_000
    return this.#runs >= (budget.runs ?? 500)
  }

  #scenarios(): PlannedScenario[] {
    const plan = { seed: this.#seed, faults: [] }
    if (this.#stage.scenario) return [{ name: 'the scenario', plan, isTelling: true }]
    const { scenarios } = this.#stage
    if (scenarios.length === 0)
      throw new Error(
        'there is nothing to do: the operator reconciles no kind of its own, and there is neither a scenario nor a sample',
      )
    return scenarios.map(({ name, actions, replicas, isTelling = false }) => ({
      name,
      isTelling,
      plan: { ...plan, actions, ...(replicas !== undefined && { replicas }) },
    }))
  }

  /** The undisturbed runs of a scenario; undefined if they already fail. */
  async #explore({ name, plan, isTelling }: PlannedScenario): Promise<Space | undefined> {
    const baseline = await this.#baselineOf(plan)
    this.#visit(baseline.result)
    const findings = await this.#judgeUndisturbed(baseline.result)
    const isFailed = await this.#report(plan, findings, smaller => this.#judgePlan(smaller))
    if (isFailed) return undefined
    const only = new Set(this.#options.only ?? faultNames)
    // Where it ends depends on when something is done to objects that complete: in a hurry, every fault would change that.
    const isOrderly = plan.actions?.every(({ wait }) => wait === 'settle' || wait === 100) ?? true
    const singles =
      isOrderly || !hasCompleted(baseline.result)
        ? singleFaults(baseline.result, { only, replicas: this.#stage.replicas })
        : []
    return { name, plan, baseline, singles, isTelling }
  }

  async #baselineOf(plan: Plan): Promise<Baseline> {
    const results: RunResult[] = []
    for (let index = 0; index < undisturbedRuns; index++)
      results.push(await this.#perform({ ...plan, seed: plan.seed + index, faults: [] }))
    const masks = new Map<CheckpointName, ReadonlySet<string>>()
    for (const name of ['end', 'restart', 'deletion'] as const) {
      const states = results.flatMap(({ checkpoints }) =>
        checkpoints.filter(checkpoint => checkpoint.name === name).map(({ state }) => state),
      )
      masks.set(name, learnMask(states))
    }
    return { result: results[0]!, masks }
  }

  async #perform(plan: Plan, options: { readonly isTraced?: boolean } = {}): Promise<RunResult> {
    this.#runs++
    const result = await performRun(this.#stage, plan, options)
    this.#options.onRun?.({ runs: this.#runs, failures: this.#failures.length, phase: this.#phase })
    return result
  }

  async #judgePlan(plan: Plan): Promise<Finding[]> {
    if (plan.faults.length === 0) return await this.#judgeUndisturbed(await this.#perform(plan))
    return judge(await this.#perform(plan), await this.#baselineOf(plan), this.#without)
  }

  /** What is wrong with an undisturbed run, and whether it ends where the last spec of each object alone ends. */
  async #judgeUndisturbed(result: RunResult): Promise<Finding[]> {
    const findings = judgeAlone(result, this.#without)
    const actions = directOf(result.plan.actions ?? [])
    if (findings.length > 0 || !actions || this.#without.has('same-as-direct')) return findings
    const { replicas: _, ...plan } = result.plan
    const direct = await this.#perform({ ...plan, actions })
    return [...judgeAlone(direct, this.#without), ...judgeDetour(result, direct, this.#without)]
  }

  /** Whether a run has been in a state that no earlier one was in. */
  #visit({ writes }: RunResult): boolean {
    const before = this.#states.size
    for (const { method, path, body, status } of writes)
      this.#states.add(`${method} ${path} ${status} ${(body ?? '').replaceAll(volatile, '')}`)
    return this.#states.size > before
  }

  /** Notes a failure that is not known yet, as small as `judgeAgain` finds it. Returns whether there is something wrong. */
  async #report(
    plan: Plan,
    findings: readonly Finding[],
    judgeAgain: ((plan: Plan) => Promise<readonly Finding[]>) | undefined,
  ): Promise<boolean> {
    if (findings.length === 0) return false
    const oracles = new Set(findings.map(({ oracle }) => oracle))
    const signature = JSON.stringify(findings.map(({ oracle, details }) => [oracle, details]))
    if (this.#signatures.has(signature)) return true
    this.#signatures.add(signature)
    let latest = findings
    let least = plan
    if (judgeAgain) {
      this.#phase = 'minimise'
      least = await minimise(plan, async smaller => {
        const found = await judgeAgain(smaller)
        const isSame = found.some(({ oracle }) => oracles.has(oracle))
        if (isSame) latest = found
        return isSame
      })
    }
    this.#failures.push(await this.#failureOf(least, latest))
    return true
  }

  async #failureOf(plan: Plan, findings: readonly Finding[]): Promise<Failure> {
    const result = await this.#perform(plan, { isTraced: true })
    const { trace } = result
    return { plan, findings, text: explain(result, findings), trace, hash: hashTrace(trace) }
  }
}

/** Ids, versions and times, which say nothing about the state that an operator is in. */
const volatile = /"(?:uid|resourceVersion)":"[^"]*",?|\d{4}-\d\d-\d\dT[^"]*/g
