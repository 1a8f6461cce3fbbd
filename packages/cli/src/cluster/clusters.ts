import { spawn } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxOf } from '@coxswain/kit'
import { backupStore, restoreStore } from '@coxswain/storage/sqlite'
import { CommandError, explainSystemError } from '../exit.ts'
import { ownCommand } from '../parent.ts'
import { runBackup, runRestore } from '../store/store.ts'
import { controlSocketPath } from '../up/control-socket.ts'
import { addContext, type ContextOptions, removeContext } from './contexts.ts'

/** What is known about a cluster, in its folder. */
interface ClusterRecord {
  readonly pid: number
  readonly url: string
  /** The flags of `coxswain up` that it was created with. */
  readonly flags: readonly string[]
}

interface ClusterFiles {
  readonly folder: string
  readonly data: string
  readonly log: string
  readonly record: string
  readonly kubeconfig: string
}

/** Milliseconds between looks at a process that starts or stops. */
const period = 20
/** Milliseconds after which a cluster that does not stop is killed. */
const stopWithin = 30_000

const home = () => resolve(process.env.COXSWAIN_CLUSTERS ?? join(homedir(), '.local/share/coxswain/clusters'))
const contextOf = (name: string) => `coxswain-${name}`

function filesOf(name: string): ClusterFiles {
  if (!/^[a-z0-9]([a-z0-9.-]{0,38}[a-z0-9])?$/.test(name))
    throw new CommandError(
      `${JSON.stringify(name)} is no name of a cluster: at most 40 lower-case letters, digits, dots and dashes`,
      { exitCode: 2 },
    )
  const folder = join(home(), name)
  return {
    folder,
    data: join(folder, 'data'),
    log: join(folder, 'log'),
    record: join(folder, 'cluster.json'),
    kubeconfig: join(folder, 'kubeconfig'),
  }
}

export async function runCreate(
  name: string,
  flags: readonly string[],
  options: ContextOptions,
): Promise<void> {
  await startCluster(name, { flags, options })
}

/** Starts another cluster with a copy of the objects, and with the certificates: tokens and client certificates are valid for both. */
export async function runFork(name: string, copy: string, options: ContextOptions): Promise<void> {
  const { data } = known(name)
  const { flags } = readRecord(name)
  const prepare = ({ folder, data: target }: ClusterFiles) => {
    const file = join(folder, 'copy')
    backupStore(join(data, 'store'), file)
    restoreStore(join(target, 'store'), file)
    rmSync(file)
    cpSync(join(data, 'pki'), join(target, 'pki'), { recursive: true })
  }
  await startCluster(copy, { flags, options, prepare })
}

interface StartOptions {
  readonly flags: readonly string[]
  readonly options: ContextOptions
  /** Fills the folder. @default it is empty */
  readonly prepare?: (files: ClusterFiles) => void
}

async function startCluster(name: string, { flags, options, prepare }: StartOptions): Promise<void> {
  const files = filesOf(name)
  try {
    mkdirSync(home(), { recursive: true, mode: 0o700 })
    mkdirSync(files.folder, { mode: 0o700 })
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST')
      throw new CommandError(
        `there is a cluster ${name} already: choose another name, or coxswain cluster delete ${name}`,
      )
    throw new CommandError(`${files.folder}: ${explainSystemError(error)}`, { cause: error })
  }
  try {
    prepare?.(files)
    const started = await startServer(files, flags)
    writeFileSync(files.record, JSON.stringify({ ...started, flags } satisfies ClusterRecord))
    await addContext(files.kubeconfig, contextOf(name), options)
    process.stdout.write(
      `cluster ${name} is ready at ${started.url}, the current context is ${contextOf(name)}\n`,
    )
  } catch (error) {
    rmSync(files.folder, { recursive: true, force: true })
    throw error
  }
}

/** Starts `coxswain up` in the background, and waits for its ready line in the log. */
async function startServer(
  { data, log, kubeconfig }: ClusterFiles,
  flags: readonly string[],
): Promise<{ readonly pid: number; readonly url: string }> {
  const [program, ...own] = ownCommand()
  const fixed = ['--port=0', '--unsafe-no-fsync', `--data-dir=${data}`, `--kubeconfig=${kubeconfig}`]
  const output = openSync(log, 'w', 0o600)
  const child = spawn(program, [...own, 'up', ...fixed, ...flags], {
    detached: true,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  child.unref()
  for (;;) {
    const printed = readFileSync(log, 'utf8')
    const [, url] = /ready at (\S+), run: /.exec(printed) ?? []
    if (url !== undefined) return { pid: child.pid!, url }
    if (child.exitCode !== null || child.signalCode !== null)
      throw new CommandError(`the cluster did not start:\n${printed.trim()}`)
    await sleep(period)
  }
}

export async function runList(): Promise<void> {
  const names = existsSync(home()) ? readdirSync(home()).sort() : []
  const rows = [['NAME', 'STATUS', 'CONTEXT', 'URL']]
  for (const name of names) {
    if (!existsSync(filesOf(name).record)) continue
    const isRunning = await isServing(filesOf(name).data)
    rows.push([name, isRunning ? 'Running' : 'Stopped', contextOf(name), readRecord(name).url])
  }
  if (rows.length === 1) return void process.stdout.write('there are no clusters\n')
  const widths = rows[0]!.map((_, column) => maxOf(rows.map(row => row[column]!.length)) + 3)
  for (const row of rows)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('')
        .trimEnd()}\n`,
    )
}

export async function runDelete(name: string, options: ContextOptions): Promise<void> {
  const files = known(name)
  // The process with this number is the cluster's only while its socket answers.
  if (existsSync(files.record) && (await isServing(files.data))) await stop(readRecord(name).pid)
  await removeContext(contextOf(name), options)
  rmSync(files.folder, { recursive: true, force: true })
  process.stdout.write(`cluster ${name} is deleted\n`)
}

async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM')
  const end = performance.now() + stopWithin
  while (isAlive(pid)) {
    if (performance.now() > end) process.kill(pid, 'SIGKILL')
    await sleep(period)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export function runSave(name: string, file: string): void {
  runBackup(file, { dataDir: known(name).data })
}

export async function runRestoreInto(name: string, file: string): Promise<void> {
  await runRestore(file, { dataDir: known(name).data })
}

/** The files of a cluster that exists. */
function known(name: string): ClusterFiles {
  const files = filesOf(name)
  if (!existsSync(files.folder))
    throw new CommandError(`there is no cluster ${name}; coxswain cluster list shows those that there are`)
  return files
}

function readRecord(name: string): ClusterRecord {
  return JSON.parse(readFileSync(filesOf(name).record, 'utf8')) as ClusterRecord
}

/** Whether a server answers for a data directory. */
function isServing(data: string): Promise<boolean> {
  return new Promise(resolveAnswer => {
    const socket = connect(controlSocketPath(data))
    socket.on('connect', () => {
      socket.destroy()
      resolveAnswer(true)
    })
    socket.on('error', () => resolveAnswer(false))
  })
}
