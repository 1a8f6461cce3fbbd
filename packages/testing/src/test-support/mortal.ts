import { createClient } from '@coxswain/client'
import { aborted, createSeededRandom, encodeText, type VirtualWorld } from '@coxswain/kit'
import { defineOperator, type Operator, runOperator } from '@coxswain/runtime'
import { isStream, type Transport, type WireRequest, type WireResponse } from '@coxswain/wire'
import type { Cluster } from '../cluster.ts'

/** What goes wrong for controllers while a scenario is played. */
export interface Trouble {
  /** The process dies right after this one of its writes, and another starts two seconds later. */
  readonly crashAfter?: number
  /** One in this many updates is rejected as a conflict, at random: no write conflicts forever. */
  readonly conflictEach?: number
  /** Milliseconds that each event of a watch is late. */
  readonly lag?: number
  /** This one of the writes is done, and its answer is lost. */
  readonly loseAnswerOf?: number
}

/** Controllers in one process that dies after one of its writes: the write is stored, but not acknowledged. */
export class Mortal {
  /** Requests that change something, of all its lives; events are not counted. */
  writes = 0
  readonly #cluster: Cluster
  readonly #world: VirtualWorld
  readonly #controllers: () => readonly Operator[]
  readonly #trouble: Trouble
  readonly #chance = createSeededRandom(1)
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
    const run = runOperator(all, {
      client,
      env: this.#world,
      signal,
      gracefulShutdown: 0,
      freeze: true,
      errorEvents: false,
    })
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
        const number = isWrite ? ++this.writes : undefined
        const response = await inner.send(request)
        if (number !== undefined && number === this.#trouble.crashAfter) {
          isDead = true
          this.#restart()
        }
        if (isDead) return await never(request.signal)
        if (number !== undefined && number === this.#trouble.loseAnswerOf) throw new Error('socket hang up')
        return this.#delay(response, request.signal)
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  #isRefused({ method }: WireRequest): boolean {
    const { conflictEach } = this.#trouble
    return conflictEach !== undefined && method !== 'POST' && this.#chance.below(conflictEach) === 0
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
  body: encodeText(
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
