import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import type { ContainerExit } from '../container-runtime.ts'
import {
  containerVariable,
  findDescendants,
  killEach,
  killGroup,
  killMarked,
  type ProcessRegistry,
} from './process-registry.ts'

export interface SpawnOptions {
  /** Tells its processes from all others. */
  readonly id: string
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: boolean
  readonly tty: boolean
  readonly size?: { readonly width: number; readonly height: number }
  readonly user?: number
  readonly group?: number
  readonly registry: ProcessRegistry
}

/** A process and its descendants: they have a group of their own and end together. */
export interface SpawnedGroup {
  readonly child: ChildProcess
  /** Resolves when the leader has ended, the others have been killed, and all they printed has been read. */
  readonly exited: Promise<ContainerExit>
  signal(signal: NodeJS.Signals): void
}

/** What is still in the pipes when a leader has ended gets so long to be read. */
const drainTime = 1_000
const terminalProgram = '/usr/bin/script'

/** Rejects when the command cannot be started. */
export async function spawnGroup(options: SpawnOptions): Promise<SpawnedGroup> {
  const { cwd, registry, user, group, id } = options
  const [file = '', ...args] = options.tty ? inTerminal(options) : options.command
  const child = spawn(file, args, {
    cwd,
    env: { ...options.env, [containerVariable]: id },
    detached: true,
    stdio: [options.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    ...(user !== undefined && process.getuid?.() === 0 && { uid: user }),
    ...(group !== undefined && process.getuid?.() === 0 && { gid: group }),
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', error => reject(new Error(explain(error, file, cwd), { cause: error })))
  })
  const pid = child.pid!
  registry.add(pid)
  child.on('error', () => {}) // a signal that could not be sent: it has ended
  child.stdin?.on('error', () => {}) // it reads no more
  let strays: ReadonlyMap<number, string> = new Map()
  const exited = new Promise<ContainerExit>(resolve => {
    let exit: ContainerExit | undefined
    let timer: NodeJS.Timeout | undefined
    child.on('exit', (code, signal) => {
      const number = signal === null ? undefined : constants.signals[signal]
      exit = number === undefined ? { exitCode: code ?? 0 } : { exitCode: 128 + number, signal: number }
      killGroup(pid, 'SIGKILL')
      killMarked(containerVariable, id)
      killEach(strays)
      registry.remove(pid)
      timer = setTimeout(() => {
        child.stdout?.destroy()
        child.stderr?.destroy()
      }, drainTime)
    })
    child.on('close', () => {
      clearTimeout(timer)
      resolve(exit ?? { exitCode: 255 })
    })
  })
  const signal = (name: NodeJS.Signals) => {
    // Whoever has left the group is found while the leader is there to lead to it.
    strays = findDescendants(pid)
    killGroup(pid, name)
    if (name === 'SIGKILL') killEach(strays)
  }
  return { child, exited, signal }
}

function explain(error: NodeJS.ErrnoException, file: string, cwd: string): string {
  if (error.code === 'ENOENT' && !existsSync(cwd)) return `chdir to cwd ("${cwd}"): no such file or directory`
  if (error.code === 'ENOENT') {
    return `failed to start container: exec: "${file}": ${file.includes('/') ? 'stat: no such file or directory' : 'executable file not found in $PATH'}`
  }
  return `failed to start container: exec: "${file}": ${error.message}`
}

/** The command in a terminal of its own, where this machine has a program for that. */
function inTerminal({ command, size }: SpawnOptions): readonly string[] {
  if (!existsSync(terminalProgram)) return command
  const resize = size ? `stty rows ${size.height} cols ${size.width} 2>/dev/null; ` : ''
  return [terminalProgram, '-qfec', `${resize}exec ${command.map(quote).join(' ')}`, '/dev/null']
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
