import { createSeededRandom, silentLogger } from '@coxswain/kit'
import type { Operator, ReconcileRecord } from '@coxswain/runtime'
import { type Cluster, PausableProcess } from '@coxswain/testing'
import { Connection } from './connection.ts'
import type { RunLog } from './run-log.ts'

export interface ReplicaOptions {
  readonly number: number
  readonly seed: number
  readonly operator: Operator
  readonly cluster: Cluster
  readonly log: RunLog
  /** Whether several replicas elect a leader. */
  readonly elects: boolean
}

/** How long it takes until a process that was killed is started again, in milliseconds. */
const downtime = 2_000

/** One process of the operator at a time: killed and started again as the faults of the run have it. */
export class Replica {
  readonly #options: ReplicaOptions
  readonly #ends: Promise<unknown>[] = []
  #life: { readonly connection: Connection; readonly stop: () => Promise<void> } | undefined
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
    let connection!: Connection
    const stop = cluster.start(operator, {
      // Failures are part of the report.
      env: { ...process.env, log: silentLogger },
      transport: inner => {
        connection = new Connection({
          inner,
          log,
          clock: env.clock,
          random: createSeededRandom(seed * 1_000 + number * 100 + life),
          revision: () => cluster.store.revisionNow?.() ?? 0,
          staleRevision,
          owner: {
            replica: number,
            kill: stale => this.#kill(stale),
            pause: () => process.pause(),
            resume: () => process.resume(),
          },
        })
        return process.transport(connection)
      },
      gracefulShutdown: 0,
      errorEvents: false,
      onReconcile: record => this.#noteReconcile(record),
      ...(elects && { leaderElection: { namespace: 'default', identity: `${number}-${life}` } }),
    })
    this.#life = { connection, stop }
    log.trace.push({ entry: 'start', time: log.time, replica: number })
  }

  /** Stops it as a signal would, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#life?.stop()
    await this.#options.cluster.run(Promise.allSettled(this.#ends))
  }

  /** Ends the process as a rollout does, and starts another at once. */
  async restart(): Promise<void> {
    await this.#life?.stop()
    this.boot()
  }

  #kill(staleRevision: number | undefined): void {
    const { log, number, cluster } = this.#options
    const life = this.#life
    if (!life) return
    this.#life = undefined
    log.trace.push({ entry: 'stop', time: log.time, replica: number })
    life.connection.sever()
    this.#ends.push(life.stop().catch(() => {}))
    cluster.env.clock.after(downtime, () => {
      if (!this.#isStopped && !this.#life) this.boot(staleRevision)
    })
  }

  #noteReconcile({ controller, key, result, error }: ReconcileRecord): void {
    const { log, number } = this.#options
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
