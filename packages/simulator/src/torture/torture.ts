import { createSeededRandom } from '@coxswain/kit'
import type { OracleName } from '../oracle-names.ts'
import { type Baseline, type Finding, judge } from '../oracles.ts'
import type { Plan } from '../plan.ts'
import { explain } from '../report/explain.ts'
import { compareSnapshots, formatDifferences, learnMask } from '../state/compare.ts'
import type { CheckpointName, RunResult } from '../world/run.ts'
import { singleTortureFaults, type TortureFault, type TortureFaultName, tortureFaultNames } from './faults.ts'

/** A run of a process. */
export interface TortureRun extends RunResult {
  /** The last lines that the process printed. */
  readonly output: readonly string[]
}

/** Plays the scenario once, as the plan has it. With a baseline, the process has time to get there. */
export type PerformTorture = (plan: Plan, baseline?: Baseline) => Promise<TortureRun>

/** Options of {@link torture}. */
export interface TortureOptions {
  readonly perform: PerformTorture
  /** @default 1 */
  readonly seed?: number
  /** Runs, the undisturbed ones included. @default 100 */
  readonly runs?: number
  /** Whether time is up; asked before every run. @default never */
  readonly isOver?: () => boolean
  /** Only these faults, together: those of an earlier failure. @default the search */
  readonly replay?: Plan['faults']
  /** Faults to inject. @default all */
  readonly only?: readonly TortureFaultName[]
  /** Oracles to leave out. */
  readonly without?: readonly OracleName[]
  /** Stop at this many failures that differ in what is wrong. @default 1 */
  readonly maxFailures?: number
  /** Called after every run. */
  readonly onRun?: (progress: {
    readonly runs: number
    readonly failures: number
    readonly singleFaults: number
  }) => void
}

/** A failure, with as few faults as it takes. */
export interface TortureFailure {
  readonly plan: Plan
  readonly findings: readonly Finding[]
  /** The failure in words, several lines. */
  readonly text: string
}

/** What was found. */
export interface TortureReport {
  readonly failures: readonly TortureFailure[]
  readonly runs: number
  /** How many single faults there are, at the writes and watch events of the undisturbed run. */
  readonly singleFaults: number
  /** How many of them were tried. */
  readonly tried: number
}

const undisturbedRuns = 2

/**
 * Runs an operator in any language, as a process, again and again: first undisturbed, then with every single fault, then with pairs; the
 * seed decides which pairs. Each run is compared with the undisturbed one.
 */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { seed = 1, runs: mostRuns = 100, isOver = () => false, maxFailures = 1 } = options
  const without = new Set(options.without)
  const failures: TortureFailure[] = []
  let runs = 0
  let tried = 0
  let singles: readonly TortureFault[] = []
  const run = async (plan: Plan, baseline?: Baseline): Promise<TortureRun> => {
    const result = await options.perform(plan, baseline)
    runs++
    options.onRun?.({ runs, failures: failures.length, singleFaults: singles.length })
    return result
  }
  const report = (): TortureReport => ({ failures, runs, singleFaults: singles.length, tried })

  const undisturbed: TortureRun[] = []
  for (let index = 0; index < undisturbedRuns; index++) {
    const result = await run({ seed, faults: [] })
    undisturbed.push(result)
    const findings = judgeUndisturbed(result).filter(({ oracle }) => !without.has(oracle))
    if (findings.length > 0) {
      failures.push({ plan: result.plan, findings, text: describe(result, findings) })
      return report()
    }
  }
  const baseline = learnBaseline(undisturbed)
  const { writes, events } = baseline.result
  singles = singleTortureFaults({ writes: writes.length, events }, new Set(options.only ?? tortureFaultNames))
  const seen = new Set<string>()
  for (const faults of options.replay ? [options.replay] : plansOf(singles, seed)) {
    if (runs >= mostRuns || isOver() || failures.length >= maxFailures) break
    const plan: Plan = { seed, faults }
    const result = await run(plan, baseline)
    if (faults.length === 1) tried++
    const findings = result.struck === 0 ? [] : judge(result, baseline, without)
    const signature = JSON.stringify(findings.map(({ oracle, details }) => [oracle, details]))
    if (findings.length === 0 || seen.has(signature)) continue
    seen.add(signature)
    const least = await minimise({ result, findings }, async fewer => {
      const again = await run({ seed, faults: fewer }, baseline)
      return { result: again, findings: judge(again, baseline, without) }
    })
    failures.push({
      plan: least.result.plan,
      findings: least.findings,
      text: describe(least.result, least.findings),
    })
  }
  return report()
}

/** Every single fault, then pairs without end. */
function* plansOf(
  singles: readonly TortureFault[],
  seed: number,
): Generator<readonly TortureFault[], void, undefined> {
  for (const fault of singles) yield [fault]
  const random = createSeededRandom(seed)
  const pick = () => singles[random.below(singles.length)]!
  while (singles.length > 1) yield [pick(), pick()]
}

interface Judged {
  readonly result: TortureRun
  readonly findings: readonly Finding[]
}

/** The same failure with fewer faults, if there is one. */
async function minimise(
  failed: Judged,
  attempt: (faults: Plan['faults']) => Promise<Judged>,
): Promise<Judged> {
  const { faults } = failed.result.plan
  if (faults.length < 2) return failed
  for (const fault of faults) {
    const alone = await attempt([fault])
    if (alone.findings.length > 0) return alone
  }
  return failed
}

function learnBaseline(undisturbed: readonly TortureRun[]): Baseline {
  const masks = new Map<CheckpointName, ReadonlySet<string>>()
  for (const { name } of undisturbed[0]!.checkpoints)
    masks.set(
      name,
      learnMask(
        undisturbed
          .flatMap(({ checkpoints }) => checkpoints.filter(each => each.name === name))
          .map(({ state }) => state),
      ),
    )
  return { result: undisturbed[0]!, masks }
}

/** What is wrong with a run although nothing went wrong. */
function judgeUndisturbed(run: TortureRun): Finding[] {
  const findings: Finding[] = run.failures.map(({ oracle, message }) => ({ oracle, message, details: [] }))
  const [end, restart] = run.checkpoints
  if (end && end.idleWrites > 1)
    findings.push({
      oracle: 'settles',
      message: `it keeps writing although nothing happens: ${end.idleWrites} writes in a second`,
      details: [],
    })
  const changes =
    end && restart?.name === 'restart' ? compareSnapshots(end.state, restart.state, new Set()) : []
  if (changes.length === 0) return findings
  const details = formatDifferences(changes)
  return [
    ...findings,
    { oracle: 'same-after-restart', message: 'restarting the operator changes the state', details },
  ]
}

function describe(run: TortureRun, findings: readonly Finding[]): string {
  if (run.output.length === 0) return explain(run, findings)
  return [
    explain(run, findings),
    '',
    'What the process printed last:',
    ...run.output.map(line => `  ${line}`),
  ].join('\n')
}
