import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { aborted } from '@coxswain/kit'
import type { ContainerExit, ProcessIo, RunningContainer } from '../container-runtime.ts'
import type { LogFile } from './log-file.ts'
import type { OutputPacer } from './output-pacer.ts'
import { type SpawnedGroup, type SpawnOptions, spawnGroup } from './spawn-group.ts'
import { TerminalSizes } from './terminal.ts'

/** Termination messages are truncated to this length, as the kubelet does. */
const messageLimit = 4096
/** How long the output of a command is still forwarded after it was asked to end. */
const execGrace = 2_000
/** How long an attached client gets to read each chunk of remaining output after the container has ended. */
const attachGrace = 1_000
/** The longest possible timer. */
const longestTimer = 2 ** 31 - 1

export interface ContainerParts {
  readonly id: string
  readonly group: SpawnedGroup
  readonly log: LogFile
  readonly pacer: OutputPacer
  readonly messagePath: string
  readonly stdinOnce: boolean
  readonly user?: RunningContainer['user']
  /** How to run another command in the container: in its environment and its directory. */
  readonly beside: (command: readonly string[]) => Omit<SpawnOptions, 'stdin' | 'tty'>
}

export function createProcessContainer(parts: ContainerParts): RunningContainer {
  const { id, group } = parts
  const { child } = group
  const listeners = new Set<Listener>()
  const exited = finish(parts, listeners)
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  void exited.then(() => {
    isOver = true
    clearTimeout(timer)
  })
  return {
    id,
    ...(parts.user && { user: parts.user }),
    exited,
    async stop(grace, stopSignal = 'SIGTERM') {
      // Its id may belong to another process by now.
      if (isOver) return
      clearTimeout(timer)
      if (grace <= 0) group.signal('SIGKILL')
      else {
        group.signal(stopSignal as NodeJS.Signals)
        timer = setTimeout(() => group.signal('SIGKILL'), Math.min(grace, longestTimer))
      }
      await exited
    },
    exec: async (command, io) =>
      await run({ ...parts.beside(command), stdin: io.stdin !== undefined, tty: io.tty }, io),
    async attach(io) {
      using listener = new Listener(io)
      listeners.add(listener)
      if (io.tty && io.sizes) new TerminalSizes(io.sizes).apply(child.pid!).catch(() => {}) // the same
      const fed = io.stdin && child.stdin && feed(io.stdin, child.stdin, parts.stdinOnce)
      fed?.catch(() => {}) // the client has disconnected
      await Promise.race([exited, aborted(io.signal)])
      listeners.delete(listener)
    },
  }
}

async function finish(parts: ContainerParts, listeners: ReadonlySet<Listener>): Promise<ContainerExit> {
  const { group, log, messagePath } = parts
  const heard = Promise.all([hear('stdout', parts, listeners), hear('stderr', parts, listeners)])
  const exit = await group.exited
  await heard
  log.end()
  const message = readLastWords(messagePath)
  return { ...exit, ...(message !== '' && { message }) }
}

/** Output goes to the log and to attached clients, at the pace of the slowest of them. */
async function hear(
  name: 'stdout' | 'stderr',
  { group, log, pacer }: ContainerParts,
  listeners: ReadonlySet<Listener>,
): Promise<void> {
  let hasEnded = false
  group.child.once('exit', () => {
    hasEnded = true
  })
  await pump(group.child[name]!, async chunk => {
    const paced = pacer.run(() => log.write(name, chunk))
    if (!hasEnded && paced > 0) await sleep(paced)
    for (const listener of listeners) await listener.take(name, chunk, hasEnded)
  })
}

/** A client that is attached to a container. */
class Listener implements Disposable {
  readonly #io: ProcessIo
  /** Called when it has disconnected. */
  readonly #waiting = new Set<() => void>()
  readonly #leave = () => {
    for (const resolve of this.#waiting) resolve()
  }

  constructor(io: ProcessIo) {
    this.#io = io
    io.signal.addEventListener('abort', this.#leave)
  }

  /** Resolves when it can take more or has disconnected; with `isLast` also when it takes too long. */
  async take(name: 'stdout' | 'stderr', chunk: Uint8Array, isLast: boolean): Promise<void> {
    if (this.#io.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    const timer = isLast ? setTimeout(resolve, attachGrace) : undefined
    this.#io[name](chunk).then(resolve, resolve)
    await promise
    clearTimeout(timer)
    this.#waiting.delete(resolve)
  }

  [Symbol.dispose](): void {
    this.#io.signal.removeEventListener('abort', this.#leave)
    this.#leave()
  }
}

/** The end of a termination message file. Never blocks, even if the container has replaced the file. */
function readLastWords(path: string): string {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    const stat = fstatSync(file)
    if (!stat.isFile()) return ''
    const buffer = Buffer.alloc(Math.min(messageLimit, stat.size))
    const count = readSync(file, buffer, 0, buffer.length, stat.size - buffer.length)
    return buffer.toString('utf8', 0, count)
  } catch {
    return '' // the container has removed the file
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Runs a command to its end; resolves with its exit code. */
async function run(options: SpawnOptions, io: ProcessIo): Promise<number> {
  const sizes = io.tty && io.sizes ? new TerminalSizes(io.sizes) : undefined
  const size = await sizes?.first()
  const group = await spawnGroup({ ...options, ...(size && { size }) })
  const { child } = group
  sizes?.apply(child.pid!).catch(() => {}) // the client has disconnected
  const kill = () => {
    group.signal('SIGTERM')
    const timer = setTimeout(() => group.signal('SIGKILL'), execGrace)
    void group.exited.then(() => clearTimeout(timer))
  }
  if (io.signal.aborted) kill()
  io.signal.addEventListener('abort', kill, { once: true })
  if (io.stdin && child.stdin) feed(io.stdin, child.stdin, true).catch(() => {}) // the client has disconnected
  const drained = [
    pump(child.stdout!, chunk => io.stdout(chunk)),
    pump(child.stderr!, chunk => io.stderr(chunk)),
  ]
  const { exitCode } = await group.exited
  await Promise.all(drained)
  io.signal.removeEventListener('abort', kill)
  return exitCode
}

async function pump(
  from: AsyncIterable<Uint8Array>,
  to: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  try {
    for await (const chunk of from) await to(chunk)
  } catch {
    // the pipe was closed, or the client has disconnected
  }
}

async function feed(from: AsyncIterable<Uint8Array>, to: Writable, ends: boolean): Promise<void> {
  for await (const chunk of from) {
    if (to.destroyed || to.writableEnded) return
    if (to.write(chunk)) continue
    await new Promise<void>(resolve => {
      const done = () => {
        to.off('drain', done).off('close', done)
        resolve()
      }
      to.on('drain', done).on('close', done)
    })
  }
  if (ends) to.end()
}
