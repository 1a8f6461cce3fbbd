import { existsSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type Failure,
  type FaultName,
  faultNames,
  type OracleName,
  oracleNames,
  type Progress,
  type Report,
  replay,
  type Scenario,
  type ServiceHandler,
  type SimulateOptions,
  simulate,
} from '@coxswain/simulator'
import { CommandError, explainSystemError } from '../exit.ts'
import { describeImportError } from '../import-error.ts'
import { loadOperators } from '../operators.ts'
import { type ReplayFile, readReplay, writeReplay } from './replay-file.ts'
import { readSamples } from './samples.ts'

export interface SimulateCommandOptions {
  readonly scenario?: string
  readonly runs?: number
  readonly seconds?: number
  readonly seed: number
  readonly replay?: string
  readonly trace?: string
  readonly json?: string
  readonly only?: readonly string[]
  readonly without?: readonly string[]
  readonly service?: readonly string[]
}

/** Simulates an operator, and sets the exit code: 0 nothing found, 1 a failure was found. */
export async function runSimulate(file: string, options: SimulateCommandOptions): Promise<void> {
  const settings = await readSettings(file, options)
  const [operator] = await loadOperators([file])
  if (options.replay !== undefined) return await runReplay(file, options, settings)
  const progress = createProgress()
  const report = await orUsage(simulate(operator!, { ...settings, onRun: progress.show }))
  progress.clear()
  const { failures } = report
  for (const failure of failures) {
    const path = writeReplay(operator!.name, failure, options.scenario)
    process.stdout.write(
      `${failure.text}\n\nReplay: coxswain simulate ${file}${scenarioFlag(options)} --replay ${path}\n\n`,
    )
  }
  process.stdout.write(`${summaryOf(report)}\n`)
  writeOutputs(options, report.failures[0], report)
  process.exitCode = failures.length > 0 ? 1 : 0
}

async function runReplay(
  file: string,
  options: SimulateCommandOptions,
  settings: SimulateOptions,
): Promise<void> {
  const recorded = readReplay(options.replay!)
  const [operator] = await loadOperators([file])
  const failure = await orUsage(replay(operator!, recorded.plan, settings))
  if (failure) process.stdout.write(`${failure.text}\n\n`)
  process.stdout.write(`${compareReplay(recorded, failure)}\n`)
  writeOutputs(options, failure, undefined)
  process.exitCode = failure ? 1 : 0
}

function compareReplay({ hash }: ReplayFile, failure: Failure | undefined): string {
  if (!failure) return 'The run no longer fails: the operator, or the world, has changed.'
  return failure.hash === hash
    ? `The run is byte-identical to the recorded one (${hash.slice(0, 12)}).`
    : `The run differs from the recorded one (${failure.hash.slice(0, 12)}, recorded ${hash.slice(0, 12)}): the operator, or the world, has changed.`
}

async function readSettings(file: string, options: SimulateCommandOptions): Promise<SimulateOptions> {
  const { scenario, runs, seconds, seed } = options
  const services: Record<string, () => ServiceHandler> = {}
  for (const entry of options.service ?? []) {
    const [host, path] = [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]
    const create = await importDefault(
      path,
      'the handler of a service: export default request => ({ status: 200 })',
    )
    services[host] = () => create as ServiceHandler
  }
  const what = 'a scenario: export default async ({ client }) => { ... }'
  return {
    seed,
    services,
    budget: seconds === undefined ? { runs: runs ?? 500 } : { seconds },
    now: () => performance.now(),
    only: knownNames(options.only, { flag: '--only', known: faultNames }) as readonly FaultName[],
    without: knownNames(options.without ?? [], {
      flag: '--without',
      known: oracleNames,
    }) as readonly OracleName[],
    ...(scenario === undefined
      ? { samples: readSamples(file) }
      : { scenario: (await importDefault(scenario, what)) as Scenario }),
  }
}

function knownNames(
  names: readonly string[] | undefined,
  { flag, known }: { readonly flag: string; readonly known: readonly string[] },
): readonly string[] {
  const unknown = names?.filter(name => !known.includes(name)) ?? []
  if (unknown.length > 0)
    throw new CommandError(`${flag}: there is no ${unknown.join(', ')}; known are ${known.join(', ')}`, {
      exitCode: 2,
    })
  return names ?? known
}

async function importDefault(file: string, what: string): Promise<unknown> {
  if (!existsSync(file)) throw new CommandError(`${file}: does not exist`, { exitCode: 2 })
  let module: { readonly default?: unknown }
  try {
    module = (await import(pathToFileURL(resolve(file)).href)) as typeof module
  } catch (cause) {
    throw new CommandError(describeImportError(file, cause), { exitCode: 2, cause })
  }
  if (typeof module.default !== 'function')
    throw new CommandError(`${file}: has no default export that is ${what}`, { exitCode: 2 })
  return module.default
}

/** An operator that nothing can be done with is bad usage. */
async function orUsage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('there is nothing to do'))
      throw new CommandError(`${error.message}; name a file with --scenario`, { exitCode: 2, cause: error })
    throw error
  }
}

const scenarioFlag = ({ scenario }: SimulateCommandOptions): string =>
  scenario === undefined ? '' : ` --scenario ${scenario}`

function summaryOf({ failures, runs, scenarios, singleFaults, complete, states }: Report): string {
  const found =
    failures.length === 0
      ? 'Nothing found'
      : `${failures.length} failure${failures.length === 1 ? '' : 's'} found`
  const sweep = complete ? 'all of them tried' : 'not all of them tried'
  return `${found}: ${runs} runs of ${scenarios.length} scenario${scenarios.length === 1 ? '' : 's'}, ${singleFaults} single faults (${sweep}), ${states} states.`
}

function writeOutputs(
  { trace, json }: SimulateCommandOptions,
  failure: Failure | undefined,
  report: Report | undefined,
): void {
  if (trace !== undefined) writeJson(trace, { trace: failure?.trace ?? [] })
  if (json !== undefined)
    writeJson(
      json,
      report
        ? { ...report, failures: report.failures.map(withoutTrace) }
        : { failures: failure ? [withoutTrace(failure)] : [] },
    )
}

const withoutTrace = ({ trace: _, ...failure }: Failure): Omit<Failure, 'trace'> => failure

function writeJson(file: string, value: unknown): void {
  try {
    writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
  } catch (cause) {
    throw new CommandError(`${file}: ${explainSystemError(cause)}`, { cause })
  }
}

/** One line that is written over and over, on a terminal only. */
function createProgress(): { readonly show: (progress: Progress) => void; readonly clear: () => void } {
  const { stderr } = process
  if (!stderr.isTTY) return { show: () => {}, clear: () => {} }
  return {
    show: ({ runs, failures, phase }) =>
      void stderr.write(`\r\u001B[K${runs} runs, ${failures} failures (${phase})`),
    clear: () => void stderr.write('\r\u001B[K'),
  }
}
