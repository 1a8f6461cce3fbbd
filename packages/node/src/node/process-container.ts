import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { ContainerExit, ProcessIo, RunningContainer } from '../container-runtime.ts'
import type { LogFile } from './log-file.ts'
import { type SpawnedGroup, type SpawnOptions, spawnGroup } from './spawn-group.ts'
import { TerminalSizes } from './terminal.ts'

/** Last words are cut at this length, as the kubelet does. */
const messageLimit = 4096
/** After it was asked to end for this long nobody hears a command's streams any more. */
const execGrace = 2_000

export interface ContainerParts {
  readonly id: string
  readonly group: SpawnedGroup
  readonly log: LogFile
  readonly messagePath: string
  readonly stdinOnce: boolean
  /** How a command is run beside it: in its environment and its directory. */
  readonly beside: (command: readonly string[]) => Omit<SpawnOptions, 'stdin' | 'tty'>
}

export function createProcessContainer(parts: ContainerParts): RunningContainer {
  const { id, group, log } = parts
  const { child } = group
  const listeners = new Set<ProcessIo>()
  const hear = (name: 'stdout' | 'stderr') => {
    child[name]!.on('data', (chunk: Uint8Array) => {
      log.write(name, chunk)
      for (const io of listeners) void io[name](chunk)
    })
  }
  hear('stdout')
  hear('stderr')
  const exited = finish(parts)
  let timer: NodeJS.Timeout | undefined
  void exited.then(() => clearTimeout(timer))
  return {
    id,
    exited,
    async stop(grace, stopSignal = 'SIGTERM') {
      clearTimeout(timer)
      if (grace <= 0) group.signal('SIGKILL')
      else {
        group.signal(stopSignal as NodeJS.Signals)
        timer = setTimeout(() => group.signal('SIGKILL'), grace)
      }
      await exited
    },
    exec: async (command, io) =>
      await run({ ...parts.beside(command), stdin: io.stdin !== undefined, tty: io.tty }, io),
    async attach(io) {
      listeners.add(io)
      const left = new Promise<void>(resolve => {
        if (io.signal.aborted) resolve()
        io.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      if (io.tty && io.sizes) new TerminalSizes(io.sizes).apply(child.pid!).catch(() => {}) // the same
      const fed = io.stdin && child.stdin && feed(io.stdin, child.stdin, parts.stdinOnce)
      fed?.catch(() => {}) // whoever sent it has left
      await Promise.race([exited, left])
      listeners.delete(io)
    },
  }
}

async function finish({ group, log, messagePath }: ContainerParts): Promise<ContainerExit> {
  const exit = await group.exited
  log.end()
  let message = ''
  try {
    message = readFileSync(messagePath, 'utf8').slice(-messageLimit)
  } catch {
    // it has taken the file away
  }
  return { ...exit, ...(message !== '' && { message }) }
}

/** Runs a command to its end; resolves with its exit code. */
async function run(options: SpawnOptions, io: ProcessIo): Promise<number> {
  const sizes = io.tty && io.sizes ? new TerminalSizes(io.sizes) : undefined
  const size = await sizes?.first()
  const group = await spawnGroup({ ...options, ...(size && { size }) })
  const { child } = group
  sizes?.apply(child.pid!).catch(() => {}) // whoever said them has left
  const kill = () => {
    group.signal('SIGTERM')
    const timer = setTimeout(() => group.signal('SIGKILL'), execGrace)
    void group.exited.then(() => clearTimeout(timer))
  }
  if (io.signal.aborted) kill()
  io.signal.addEventListener('abort', kill, { once: true })
  if (io.stdin && child.stdin) feed(io.stdin, child.stdin, true).catch(() => {}) // whoever sent it has left
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
    // the pipe was closed under it, or nobody listens any more
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
