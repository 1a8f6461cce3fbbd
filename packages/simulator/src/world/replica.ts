import { createSeededRandom, silentLogger } from '@coxswain/kit'
import type { Operator, ReconcileRecord } from '@coxswain/runtime'
import { type Cluster, PausableProcess } from '@coxswain/testing'
import { type Handler, TransportError } from '@coxswain/wire'
import { describeFault } from '../fault.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import type { RunLog } from './run-log.ts'

export interface ReplicaOptions {
  readonly number: number
  readonly seed: number
  readonly operator: Operator
  readonly cluster: Cluster
  readonly log: RunLog
  /** Whether several replicas elect a leader. */
  readonly elects: boolean
  /** Does what another client does right after a write. */
  readonly interfere: ConnectionOptions['interfere']
  /** Called with every error that a reconcile ends with. */
  readonly onError: (error: unknown) => void
  /** Called with a write that replaced what the operator had not seen, in words. */
  readonly onStaleWrite: (text: string) => void
}

/** Longer than the API server waits for a webhook, in milliseconds. */
const webhookDelay = 40_000
/** How long it takes until a process that was killed is started again, in milliseconds. */
const downtime = 2_000

/** One process of the operator at a time: killed and started again as the faults of the run have it. */
export class Replica {
  readonly #options: ReplicaOptions
  readonly #ends: Promise<unknown>[] = []
  #life:
    | { readonly number: number; readonly connection: Connection; readonly stop: () => Promise<void> }
    | undefined
  #lives = 0
  #isStopped = false

  constructor(options: ReplicaOptions) {
    this.#options = options
  }

  boot(staleRevision?: number): void {
    const { cluster, operator, log, number, seed, elects } = this.#options
    const { env } = cluster
    const life = ++this.#lives
    const process = new PausableProcess(env)
    const skew = log.find('clock-skew')
    let offset = skew?.ms ?? 0
    if (skew && log.strike(each => each === skew).length > 0) log.note(describeFault(skew, String))
    const clock = { ...process.env.clock, now: () => env.clock.now() + offset }
    let connection!: Connection
    const stop = cluster.start(operator, {
      // Failures are part of the report.
      env: { ...process.env, clock, log: silentLogger },
      transport: inner => {
        connection = new Connection({
          inner,
          log,
          clock: env.clock,
          random: createSeededRandom(seed * 1_000 + number * 100 + life),
          revision: () => cluster.store.revisionNow?.() ?? 0,
          staleRevision,
          interfere: this.#options.interfere,
          onStaleWrite: this.#options.onStaleWrite,
          owner: {
            replica: number,
            kill: stale => this.#kill(stale),
            pause: () => process.pause(),
            resume: () => process.resume(),
            jump: ms => {
              offset += ms
            },
          },
        })
        return process.transport(connection)
      },
      gracefulShutdown: 0,
      onFailure: () => this.#end(life),
      errorEvents: false,
      webhookHandler: handler => this.#faultyWebhook(handler),
      onReconcile: record => this.#noteReconcile(record),
      ...(elects && { leaderElection: { namespace: 'default', identity: `${number}-${life}` } }),
    })
    this.#life = { number: life, connection, stop }
    log.trace.push({ entry: 'start', time: log.time, replica: number })
  }

  /** Stops it as a signal would, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#life?.stop().catch(ignoreEnd)
    await this.#options.cluster.run(Promise.allSettled(this.#ends))
  }

  /** Ends the process as a rollout does, and starts another at once. */
  async restart(): Promise<void> {
    await this.#life?.stop().catch(ignoreEnd)
    this.boot()
  }

  /** The process has ended with an error, as with a lost lease: another one takes its place. */
  #end(life: number): void {
    if (this.#life?.number === life) this.#kill(undefined)
  }

  #kill(staleRevision: number | undefined): void {
    const { log, number, cluster } = this.#options
    const life = this.#life
    if (!life) return
    this.#life = undefined
    log.trace.push({ entry: 'stop', time: log.time, replica: number })
    life.connection.sever()
    this.#ends.push(life.stop().catch(ignoreEnd))
    cluster.env.clock.after(downtime, () => {
      if (!this.#isStopped && !this.#life) this.boot(staleRevision)
    })
  }

  /** The webhooks of this process, as the API server reaches them. */
  #faultyWebhook(handler: Handler): Handler {
    const { log, cluster } = this.#options
    return async request => {
      const call = ++log.webhookCalls
      const [fault] = log.strike(each => each.fault === 'webhook' && each.call === call)
      if (fault) log.note(describeFault(fault, String))
      if (fault?.fault === 'webhook' && fault.how === 'down')
        throw new TransportError('ConnectFailed', 'connection refused', { sent: false })
      if (fault) await cluster.env.clock.sleep(webhookDelay, { signal: request.signal })
      return await handler(request)
    }
  }

  #noteReconcile({ controller, key, result, error }: ReconcileRecord): void {
    const { log, number, onError } = this.#options
    if (error !== undefined) onError(error)
    const text = error === undefined ? undefined : error instanceof Error ? error.message : String(error)
    log.trace.push({
      entry: 'reconcile',
      time: log.time,
      replica: number,
      controller,
      key,
      result,
      error: text,
    })
  }
}

/** A process that does not end in time is killed; how it ends does not matter. */
function ignoreEnd(): void {}
