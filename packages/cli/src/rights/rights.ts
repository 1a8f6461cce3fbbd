import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { unusedRights } from '@coxswain/project/manifests'
import { coversCall, describeCall, describeOperator, type RecordedCall } from '@coxswain/runtime'
import { formatLock, lockRights, type Recording } from '@coxswain/testing/rights'
import { CommandError, explainSystemError } from '../exit.ts'
import { loadConfig } from '../host/load-config.ts'
import { readCalls } from '../load-lock.ts'
import { chooseModules, loadModules } from '../load-modules.ts'

/** Options of `coxswain rights`. */
export interface RightsCommandOptions {
  readonly check: boolean
  readonly config?: string
}

/** Runs the tests, and writes or compares `rbac.lock.json`. */
export async function runRights(command: readonly string[], options: RightsCommandOptions): Promise<void> {
  const root = findRoot()
  const calls = await record(command, root)
  const before = readCalls(root)
  const added = calls.filter(call => !before.some(right => isSame(right, call)))
  const removed = before.filter(right => !calls.some(call => isSame(right, call)))
  const isStale = !existsSync(join(root, 'rbac.lock.json')) || added.length + removed.length > 0
  for (const call of added) process.stdout.write(`+ ${describeCall(call)}\n`)
  for (const call of removed) process.stdout.write(`- ${describeCall(call)}\n`)
  if (!isStale) process.stdout.write(`rbac.lock.json is up to date: ${calls.length} rights\n`)
  else if (options.check)
    throw new CommandError(`rbac.lock.json is stale; run: npx coxswain rights -- ${command.join(' ')}`)
  else {
    writeFileSync(join(root, 'rbac.lock.json'), formatLock(calls))
    process.stdout.write(`rbac.lock.json written: ${calls.length} rights\n`)
  }
  await listUnused(calls, options)
}

/** The nearest folder with a package.json, as the tests find it. */
function findRoot(): string {
  for (let at = process.cwd(); ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at
    if (at === dirname(at))
      throw new CommandError('no package.json here or above: rbac.lock.json is kept beside it', {
        exitCode: 2,
      })
  }
}

async function record(command: readonly string[], root: string): Promise<RecordedCall[]> {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-rights-'))
  try {
    await runTests(command, folder)
    const recordings = readdirSync(folder)
      .sort()
      .map(file => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recording)
      .filter(recording => realpathSync(recording.root) === realpathSync(root))
    if (recordings.length === 0)
      throw new CommandError(
        `${command.join(' ')} started no operator of ${root}: rights are recorded where a test calls cluster.start(operator)`,
      )
    return lockRights(recordings, createSourceSearch(root))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runTests(command: readonly string[], folder: string): Promise<void> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, COXSWAIN_RIGHTS: resolve(folder) },
  })
  const [code, signal] = (await once(child, 'exit').catch(error => {
    throw new CommandError(`${program} cannot be started: ${explainSystemError(error)}`, { cause: error })
  })) as [number | null, string | null]
  if (code !== 0)
    throw new CommandError(
      `${command.join(' ')} ended with ${signal ?? `exit code ${code}`}: rights are only recorded by tests that pass`,
    )
}

/** Finds strings in the sources of the project; a string of a test is no constant. */
function createSourceSearch(root: string): (text: string) => boolean {
  let sources: string[] | undefined
  return text => {
    sources ??= sourceFiles(root).map(file => readFileSync(file, 'utf8'))
    return sources.some(source => ["'", '"', '`'].some(quote => source.includes(`${quote}${text}${quote}`)))
  }
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^\.|^node_modules$/.test(entry.name) ? [] : sourceFiles(path)
    return /\.[cm]?[jt]s$/.test(entry.name) && !/\.(?:test|spec)\./.test(entry.name) ? [path] : []
  })
}

function isSame(a: RecordedCall, b: RecordedCall): boolean {
  return coversCall(a, b) && coversCall(b, a)
}

async function listUnused(calls: readonly RecordedCall[], options: RightsCommandOptions): Promise<void> {
  const config = await loadConfig(options.config)
  if (!config && !existsSync('operator.ts')) return
  const { operators } = await loadModules(chooseModules([], config))
  for (const { of, verb, resource } of unusedRights(operators.map(describeOperator), calls))
    process.stdout.write(`unused: ${of} may ${verb} ${resource}, and no test does\n`)
}
