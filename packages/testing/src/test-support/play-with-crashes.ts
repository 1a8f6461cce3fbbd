import assert from 'node:assert/strict'
import { createClient } from '@coxswain/client'
import { aborted, VirtualWorld } from '@coxswain/kit'
import { defineOperator, type Operator, runOperator } from '@coxswain/runtime'
import { isStream, type Transport, type WireRequest, type WireResponse } from '@coxswain/wire'
import { type Cluster, startCluster } from '../cluster.ts'
import { crashPoints } from './crash-points.ts'

/** What happens around controllers, and what is there in the end. */
export interface Play {
  readonly name: string
  /** Those that are killed. */
  readonly controllers: () => readonly Operator[]
  /** Those that live on: kubelets and the like. */
  readonly others?: () => readonly Operator[]
  readonly act: (cluster: Cluster) => Promise<void>
  /** What matters of the end, to be compared with `end`. */
  readonly look: (cluster: Cluster) => Promise<unknown>
  readonly end: unknown
}

const restPeriod = 60_000

/** What goes wrong in a performance. */
export interface Trouble {
  /** The process dies right after this one of its writes, and another starts two seconds later. */
  readonly crashAfter?: number
  /** Each so many changes of what is there are refused as a conflict. */
  readonly conflictEach?: number
  /** Milliseconds that each event of a watch is late. */
  readonly lag?: number
}

/**
 * Plays it undisturbed, with conflicts, with caches that lag behind, and with the controllers killed after one of their
 * writes: the end has to be the same, and stay, with nobody writing any more.
 */
export async function playWithCrashes(play: Play, seed = 5): Promise<void> {
  const writes = await playOnce(play, seed, {})
  assert.ok(writes > 0, `${play.name}: the controllers wrote nothing`)
  await playOnce(play, seed, { conflictEach: 3 })
  await playOnce(play, seed, { lag: 300 })
  for (const crashAfter of crashPoints(writes, play.name.length)) await playOnce(play, seed, { crashAfter })
}

async function playOnce(play: Play, seed: number, trouble: Trouble): Promise<number> {
  const message = `${play.name} ${JSON.stringify(trouble)}`
  const world = new VirtualWorld({ seed })
  await using cluster = await startCluster({ env: world })
  for (const operator of play.others?.() ?? []) cluster.start(operator)
  const process = new Mortal(cluster, world, play.controllers, trouble)
  process.boot()
  try {
    await cluster.advance(2_000)
    await play.act(cluster)
    await cluster.advance(trouble.lag || trouble.conflictEach ? 60_000 : 5_000)
    assert.deepEqual(await play.look(cluster), play.end, message)
    const sent = process.writes
    await cluster.advance(restPeriod)
    assert.deepEqual(await play.look(cluster), play.end, `${message}: it does not stay`)
    assert.equal(process.writes, sent, `${message}: writes when all is done`)
    return sent
  } finally {
    await process.stop()
  }
}

/** Controllers in one process that dies after one of its writes: it has been done, and nobody was told. */
export class Mortal {
  writes = 0
  readonly #cluster: Cluster
  readonly #world: VirtualWorld
  readonly #controllers: () => readonly Operator[]
  readonly #trouble: Trouble
  #changes = 0
  #stop = new AbortController()
  #done: Promise<unknown> = Promise.resolve()
  #isStopped = false

  constructor(
    cluster: Cluster,
    world: VirtualWorld,
    controllers: () => readonly Operator[],
    trouble: Trouble,
  ) {
    this.#cluster = cluster
    this.#world = world
    this.#controllers = controllers
    this.#trouble = trouble
  }

  boot(): void {
    const { signal } = this.#stop
    const transport = this.#wrap(this.#cluster.connect())
    const client = createClient({ env: this.#world, transport, onWarning: () => {} })
    const all = defineOperator('controllers', operator => {
      for (const controller of this.#controllers()) controller.setup(operator)
    })
    const run = runOperator(all, { client, env: this.#world, signal, gracefulShutdown: 0, freeze: true })
    this.#done = Promise.allSettled([run])
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stop.abort()
    await this.#cluster.run(this.#done)
  }

  #wrap(inner: Transport): Transport {
    let isDead = false
    return {
      send: async request => {
        if (isDead) return await never(request.signal)
        const isWrite = request.method !== 'GET' && !request.path.includes('/events')
        if (isWrite && this.#isRefused(request)) return conflict
        const number = isWrite ? ++this.writes : 0
        const response = await inner.send(request)
        if (number > 0 && number === this.#trouble.crashAfter) {
          isDead = true
          this.#restart()
        }
        return isDead ? await never(request.signal) : this.#delay(response, request.signal)
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  #isRefused({ method }: WireRequest): boolean {
    const { conflictEach } = this.#trouble
    return conflictEach !== undefined && method !== 'POST' && ++this.#changes % conflictEach === 0
  }

  #delay(response: WireResponse, signal: AbortSignal): WireResponse {
    const { lag } = this.#trouble
    const { body } = response
    if (lag === undefined || !isStream(body)) return response
    const { clock } = this.#world
    async function* late(chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        await clock.sleep(lag!, { signal })
        yield chunk
      }
    }
    return { ...response, body: late(body) }
  }

  #restart(): void {
    this.#stop.abort()
    this.#stop = new AbortController()
    const dying = this.#done
    this.#done = dying.then(async () => {
      await this.#world.clock.sleep(2_000)
      if (this.#isStopped) return
      this.boot()
      await this.#done
    })
  }
}

const conflict: WireResponse = {
  status: 409,
  headers: { 'content-type': 'application/json' },
  body: new TextEncoder().encode(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'Conflict',
      message: 'the object has been modified',
      code: 409,
    }),
  ),
}

async function never(signal: AbortSignal): Promise<never> {
  await aborted(signal)
  throw signal.reason
}
