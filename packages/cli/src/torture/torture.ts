import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRealEnv } from '@coxswain/kit'
import { isProjectError, readManifests } from '@coxswain/project/deploy'
import {
  type OracleName,
  type Plan,
  type TortureFailure,
  type TortureFaultName,
  type TortureReport,
  torture,
} from '@coxswain/simulator'
import { performTorture, type TortureStage, type TortureStep } from '@coxswain/simulator/node'
import { CommandError, explainSystemError } from '../exit.ts'

/** Options of `coxswain torture`. */
export interface TortureCommandOptions {
  readonly scenario: string
  readonly runs: number
  readonly seconds?: number
  readonly seed: number
  readonly only?: readonly TortureFaultName[]
  readonly without?: readonly OracleName[]
  readonly failures: number
  readonly quiet: number
  readonly patience: number
  readonly json?: string
  readonly replay?: string
}

/** Tortures the operator, prints the report and sets the exit code. */
export async function runTorture(command: readonly string[], options: TortureCommandOptions): Promise<void> {
  const { clock } = createRealEnv()
  const stage: TortureStage = {
    command,
    env: process.env,
    steps: readScenario(options.scenario),
    quiet: options.quiet,
    patience: options.patience * 1_000,
  }
  const begun = clock.monotonic()
  const over = options.seconds === undefined ? Number.POSITIVE_INFINITY : begun + options.seconds * 1_000
  const replayed = options.replay === undefined ? undefined : readPlan(options.replay)
  const isTerminal = process.stderr.isTTY && options.json !== '-'
  const report = await explained(() =>
    torture({
      perform: (plan, baseline) => performTorture(stage, plan, baseline),
      seed: options.seed,
      runs: options.runs,
      maxFailures: options.failures,
      isOver: () => clock.monotonic() >= over,
      ...(replayed && { replay: replayed.faults }),
      ...(options.only && { only: options.only }),
      ...(options.without && { without: options.without }),
      onRun: ({ runs, failures, singleFaults }) => {
        if (isTerminal)
          process.stderr.write(`\r${runs} runs, ${singleFaults} single faults, ${failures} failures`)
      },
    }),
  )
  if (isTerminal) process.stderr.write('\r\x1b[K')
  const seconds = ((clock.monotonic() - begun) / 1_000).toFixed(1)
  if (options.json !== undefined) writeJson(options.json, report)
  if (options.json !== '-') print(report, { command, options, seconds })
  process.exitCode = report.failures.length === 0 ? 0 : 1
}

interface Printing {
  readonly command: readonly string[]
  readonly options: TortureCommandOptions
  readonly seconds: string
}

function print(report: TortureReport, { command, options, seconds }: Printing): void {
  const { failures, runs, singleFaults, tried } = report
  for (const failure of failures) {
    process.stdout.write(`${failure.text}\n\n`)
    if (failure.plan.faults.length === 0) continue
    const file = options.replay ?? savePlan(failure)
    process.stdout.write(
      `Replay: npx coxswain torture --scenario ${options.scenario} --replay ${file} -- ${command.join(' ')}\n\n`,
    )
  }
  process.stdout.write(
    `${failures.length} failures in ${runs} runs, ${tried} of ${singleFaults} single faults tried, ${seconds} s\n`,
  )
}

function savePlan({ plan }: TortureFailure): string {
  const text = `${JSON.stringify(plan, undefined, 2)}\n`
  const file = `torture-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`
  writeFileSync(file, text)
  return file
}

function writeJson(file: string, report: TortureReport): void {
  const text = `${JSON.stringify(report, undefined, 2)}\n`
  if (file === '-') process.stdout.write(text)
  else writeFileSync(file, text)
}

function readPlan(file: string): Plan {
  try {
    const plan = JSON.parse(readFileSync(file, 'utf8')) as Partial<Plan>
    if (!Array.isArray(plan.faults)) throw new Error('it has no list of faults')
    return plan as Plan
  } catch (error) {
    throw new CommandError(`--replay ${file}: ${explainSystemError(error)}`, { exitCode: 2, cause: error })
  }
}

/** The files of a folder in the order of their names. */
function readScenario(folder: string): TortureStep[] {
  try {
    const steps = readdirSync(folder)
      .filter(name => /\.(?:ya?ml|json)$/.test(name))
      .sort()
      .map(
        (name): TortureStep => ({
          name,
          action: /\.delete\.\w+$/.test(name) ? 'delete' : 'apply',
          objects: readManifests(readFileSync(join(folder, name), 'utf8'), name),
        }),
      )
    if (steps.length === 0) throw new Error('there is no YAML or JSON file in it')
    return steps
  } catch (error) {
    const reason = isProjectError(error) ? error.message : explainSystemError(error)
    throw new CommandError(`--scenario ${folder}: ${reason}`, { exitCode: 2, cause: error })
  }
}

/** What the operator or the scenario does wrong by itself is one message. */
async function explained(run: () => Promise<TortureReport>): Promise<TortureReport> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Error && !(error instanceof TypeError))
      throw new CommandError(error.message, { cause: error })
    throw error
  }
}
