import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface OperatorProcessOptions {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called with what a new process sees first: see `kill`. */
  readonly onStart: (staleRevision: number | undefined) => void
  readonly onStop: () => void
}

/** How long it takes until a process that ended is started again, in milliseconds. */
const downtime = 500
const keptLines = 15
/** How long a process may take to end after SIGTERM, in milliseconds. */
const grace = 5_000

/** One process of the operator at a time, restarted when it ends, as a Deployment would. */
export class OperatorProcess {
  readonly #options: OperatorProcessOptions
  #child: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  /** The error that kept it from being started. */
  failure: Error | undefined
  /** How often it ended by itself. */
  exits = 0
  #output: string[] = []

  constructor(options: OperatorProcessOptions) {
    this.#options = options
  }

  /** The last lines that it printed. */
  get output(): readonly string[] {
    return this.#output.slice(-keptLines)
  }

  start(staleRevision?: number): void {
    const { command, env, onStart } = this.#options
    const [program = '', ...args] = command
    onStart(staleRevision)
    // In a group of its own, so that signals reach what it starts, too.
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.#child = child
    const keep = (chunk: Buffer) => {
      this.#output = [...this.#output, ...String(chunk).split('\n').filter(Boolean)].slice(-keptLines * 4)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', error => {
      this.failure = error
    })
    child.once('exit', () => {
      if (this.#child !== child) return
      this.exits++
      this.#child = undefined
      this.#restartLater(undefined)
    })
  }

  /** Ends it as SIGKILL does; another one is started soon. */
  kill(staleRevision: number | undefined): void {
    const child = this.#child
    if (!child) return
    this.#child = undefined
    this.#options.onStop()
    signal(child, 'SIGKILL')
    this.#restartLater(staleRevision)
  }

  pause(): void {
    if (this.#child) signal(this.#child, 'SIGSTOP')
  }

  resume(): void {
    if (this.#child) signal(this.#child, 'SIGCONT')
  }

  /** Ends it as a rollout does, and starts another. */
  async restart(): Promise<void> {
    await this.#end()
    this.start()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#end()
  }

  async #end(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    signal(child, 'SIGTERM')
    const timer = setTimeout(() => signal(child, 'SIGKILL'), grace)
    await ended
    clearTimeout(timer)
  }

  #restartLater(staleRevision: number | undefined): void {
    clearTimeout(this.#timer)
    if (!this.#isStopped) this.#timer = setTimeout(() => this.start(staleRevision), downtime)
  }
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
