import assert from 'node:assert/strict'
import { Node } from '@coxswain/api/core/v1'
import { type Client, createClient } from '@coxswain/client'
import { aborted, VirtualWorld } from '@coxswain/kit'
import { type Operator, runOperator } from '@coxswain/runtime'
import { createScheduler } from '@coxswain/scheduler'
import type { Transport } from '@coxswain/wire'
import { type Cluster, startCluster } from '../cluster.ts'
import { crashPoints } from './crash-points.ts'
import { createObedientPods } from './obedient-pods.ts'
import { createTroubledTransport } from './troubled-transport.ts'

/** What happens to controllers, and how it ends. */
export interface Play {
  /** The controllers that are tried: anew for each life. */
  readonly operators: () => readonly Operator[]
  /** Nodes for pods that ask for one; with them comes the scheduler. @default none */
  readonly nodes?: readonly string[]
  readonly act: (stage: WorkloadStage) => Promise<void>
  /** What is to be the same however often the controllers died. */
  readonly end: (stage: WorkloadStage) => Promise<unknown>
}

/** What the controllers have to live with. */
interface Trouble {
  /** They are killed right after this write. */
  readonly crashAfter?: number
  /** Their caches are stale, and their writes meet conflicts. */
  readonly isTroubled?: boolean
}

/** Controllers that can be killed after any of their writes, beside a cluster whose pods do as they are told. */
export class WorkloadStage {
  readonly cluster: Cluster
  readonly #world: VirtualWorld
  readonly #play: Play
  readonly #trouble: Trouble
  #stop = new AbortController()
  #life: Promise<unknown> = Promise.resolve()
  writes = 0

  constructor(cluster: Cluster, world: VirtualWorld, play: Play, trouble: Trouble = {}) {
    this.cluster = cluster
    this.#world = world
    this.#play = play
    this.#trouble = trouble
  }

  get client(): Client {
    return this.cluster.client
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.cluster.run(promise)
  }

  later(ms: number): Promise<void> {
    return this.#world.advance(ms)
  }

  async start(): Promise<void> {
    this.cluster.start(createObedientPods())
    for (const name of this.#play.nodes ?? []) await this.addNode(name)
    if (this.#play.nodes) this.cluster.start(createScheduler())
    this.#boot()
    await this.later(1_000)
  }

  async addNode(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const node = await this.run(
      this.client.create(Node, { metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } } }),
    )
    const allocatable = { cpu: '8', memory: '16Gi', pods: '100' }
    const conditions = [{ type: 'Ready', status: 'True' as const }]
    const status = { capacity: allocatable, allocatable, conditions }
    await this.run(this.client.updateStatus(Node, { ...node, status }))
    await this.setTaints(name, [])
  }

  async setTaints(
    name: string,
    taints: readonly { readonly key: string; readonly effect: string }[],
  ): Promise<void> {
    await this.run(this.client.patch(Node, { name }, { spec: { taints } }, { type: 'merge' }))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.run(this.#life)
  }

  #boot(): void {
    this.#stop = new AbortController()
    const { signal } = this.#stop
    const connection = this.cluster.connect()
    const { isTroubled } = this.#trouble
    const transport = this.#mortal(isTroubled ? createTroubledTransport(connection, this.#world) : connection)
    const client = createClient({ env: this.#world, transport, onWarning: () => {} })
    const runs = this.#play
      .operators()
      .map(operator => runOperator(operator, { client, env: this.#world, signal, gracefulShutdown: 0 }))
    this.#life = Promise.allSettled(runs)
  }

  /** Nothing passes in either direction once the process is dead; the write that killed it has been done. */
  #mortal(inner: Transport): Transport {
    let isDead = false
    return {
      send: async request => {
        if (!isDead) {
          const isWrite = request.method !== 'GET' && !request.path.includes('/events')
          const number = isWrite ? ++this.writes : 0
          const response = await inner.send(request)
          if (number === 0 || number !== this.#trouble.crashAfter) return response
          isDead = true
          this.#die()
        }
        await aborted(request.signal)
        throw request.signal.reason
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  #die(): void {
    this.#stop.abort()
    this.#life = this.#life.then(async () => {
      await this.#world.clock.sleep(2_000)
      this.#boot()
      await this.#life
    })
  }
}

async function playOnce(play: Play, trouble: Trouble = {}): Promise<{ end: unknown; writes: number }> {
  const world = new VirtualWorld({ seed: 11 })
  await using cluster = await startCluster({ env: world })
  const stage = new WorkloadStage(cluster, world, play, trouble)
  await stage.start()
  try {
    await play.act(stage)
    await stage.later(60_000)
    const end = await play.end(stage)
    const { writes } = stage
    await stage.later(60_000)
    assert.equal(stage.writes - writes, 0, `${JSON.stringify(trouble)}: it writes when all is done`)
    return { end, writes }
  } finally {
    await stage.stop()
  }
}

/**
 * Plays it undisturbed, with stale caches and conflicts, and with the controllers killed right after one of their writes
 * and started anew: the end has to be the same, and stay.
 */
export async function playWorkload(play: Play, expected?: unknown): Promise<void> {
  const { end, writes } = await playOnce(play)
  if (expected !== undefined) assert.deepEqual(end, expected)
  const troubled = await playOnce(play, { isTroubled: true })
  assert.deepEqual(troubled.end, end, 'with stale caches and conflicts')
  for (const crashAfter of crashPoints(writes)) {
    const again = await playOnce(play, { crashAfter })
    assert.deepEqual(again.end, end, `killed after write ${crashAfter} of ${writes}`)
  }
}
