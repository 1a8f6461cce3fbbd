import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type { ContainerExit } from '../container-runtime.ts'
import {
  containerVariable,
  findDescendants,
  findFirstProcess,
  killEach,
  killGroup,
  killOne,
  markerVariable,
  type ProcessRegistry,
} from './process-registry.ts'
import { sweepContainer } from './sweep.ts'

export interface SpawnOptions {
  /** Identifies its processes among all others. */
  readonly id: string
  readonly command: readonly string[]
  /** Of the command, or in its namespaces. */
  readonly cwd: string
  /** The command prefix that enters namespaces and changes the user, and reports on file descriptor 3 (see `namespaces.ts`). @default none */
  readonly wrapper?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: boolean
  readonly tty: boolean
  readonly size?: { readonly width: number; readonly height: number }
  readonly user?: number
  readonly group?: number
  readonly registry: ProcessRegistry
  /** Descendants of the leader end with it. @default they run until the container ends */
  readonly endsTogether?: boolean
}

/** A process and its descendants: they have a group of their own and end together. */
export interface SpawnedGroup {
  readonly child: ChildProcess
  /** Resolves when the leader has ended, its descendants have been killed, and all their output has been read. */
  readonly exited: Promise<ContainerExit>
  signal(signal: NodeJS.Signals): void
}

/** Milliseconds without output after which the pipes of an ended leader are closed. */
const drainTime = 1_000
/** The most characters of an error about a container that could not be created. */
const reportLimit = 2_000
const terminalProgram = '/usr/bin/script'

/** Rejects when the command cannot be started. */
export async function spawnGroup(options: SpawnOptions): Promise<SpawnedGroup> {
  const { registry, user, group, id, wrapper } = options
  const cwd = wrapper ? '/' : options.cwd
  const [file = '', ...args] = [...(wrapper ?? []), ...(options.tty ? inTerminal(options) : options.command)]
  const changesUser = !wrapper && process.getuid?.() === 0
  const child = spawn(file, args, {
    cwd,
    env: { ...options.env, [containerVariable]: id },
    detached: true,
    stdio: [options.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(wrapper ? (['pipe'] as const) : [])],
    ...(user !== undefined && changesUser && { uid: user }),
    ...(group !== undefined && changesUser && { gid: group }),
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', error => reject(new Error(explain(error, file, cwd), { cause: error })))
  })
  const pid = child.pid!
  try {
    registry.add(pid)
  } catch (error) {
    // A process that cannot be recorded must not run.
    killGroup(pid, 'SIGKILL')
    throw error
  }
  child.on('error', () => {}) // a signal that could not be sent: it has ended
  child.stdin?.on('error', () => {}) // it no longer reads
  let strays: ReadonlyMap<number, string> = new Map()
  const exited = new Promise<ContainerExit>(resolve => {
    let exit: ContainerExit | undefined
    let swept = Promise.resolve()
    child.on('exit', (code, signal) => {
      const number = signal === null ? undefined : constants.signals[signal]
      exit = number === undefined ? { exitCode: code ?? 0 } : { exitCode: 128 + number, signal: number }
      registry.remove(pid)
      if (options.endsTogether) {
        killGroup(pid, 'SIGKILL')
        killEach(strays)
        swept = sweepContainer(id, options.env[markerVariable])
      }
      drain(child)
    })
    child.on('close', () => {
      void swept.then(() => resolve(exit ?? { exitCode: 255 }))
    })
  })
  const signal = (name: NodeJS.Signals) => {
    // In a PID namespace only the first process is signalled, as container runtimes do; the others end with it.
    const first =
      wrapper && options.endsTogether && name !== 'SIGKILL' ? findFirstProcess(pid, 'pid') : undefined
    if (first !== undefined) {
      killOne(first, name)
      return
    }
    // Processes that have left the group are found through the leader while it still exists.
    strays = findDescendants(pid)
    killGroup(pid, name)
    if (name === 'SIGKILL') killEach(strays)
  }
  if (wrapper) {
    const failure = await untilStarted(child, options.command[0] ?? '')
    if (failure) {
      // The sweep matches by id, which the next attempt may share: wait for it.
      await exited
      throw failure
    }
  }
  return { child, exited, signal }
}

/** Resolves when a wrapper runs its command; when it cannot, ends it and returns the reason. */
async function untilStarted(child: ChildProcess, file: string): Promise<Error | undefined> {
  const report = child.stdio[3] as Readable
  let text = ''
  try {
    for await (const chunk of report) {
      text = (text + chunk).slice(-reportLimit)
      if (text.endsWith('started\n')) return undefined
    }
  } finally {
    report.destroy()
  }
  killGroup(child.pid!, 'SIGKILL')
  child.stdout?.resume()
  child.stderr?.resume()
  const isMissing = text.endsWith('missing\n')
  return new Error(
    isMissing ? explainMissing(file) : `failed to create container: ${text.trim() || 'it was ended'}`,
  )
}

/**
 * Reads the pipes of a leader that has ended to the end, however slowly; pipes that another process holds
 * open without writing are closed.
 */
function drain({ stdout, stderr }: ChildProcess): void {
  for (const stream of [stdout, stderr] as (Socket | null)[]) {
    if (!stream || stream.destroyed) continue
    let before = stream.bytesRead
    const timer = setInterval(() => {
      if (stream.readableLength === 0 && stream.bytesRead === before) stream.destroy()
      before = stream.bytesRead
    }, drainTime)
    stream.once('close', () => clearInterval(timer))
  }
}

function explain(error: NodeJS.ErrnoException, file: string, cwd: string): string {
  if (error.code === 'ENOENT' && !existsSync(cwd)) return `chdir to cwd ("${cwd}"): no such file or directory`
  if (error.code === 'ENOENT') {
    return explainMissing(file)
  }
  return `failed to start container: exec: "${file}": ${error.message}`
}

function explainMissing(file: string): string {
  const why = file.includes('/') ? 'stat: no such file or directory' : 'executable file not found in $PATH'
  return `failed to start container: exec: "${file}": ${why}`
}

/** The command in a terminal of its own, where script(1) is installed. */
function inTerminal({ command, size }: SpawnOptions): readonly string[] {
  if (!existsSync(terminalProgram)) return command
  const resize = size ? `stty rows ${size.height} cols ${size.width} 2>/dev/null; ` : ''
  return [terminalProgram, '-qfec', `${resize}exec ${command.map(quote).join(' ')}`, '/dev/null']
}

export function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
