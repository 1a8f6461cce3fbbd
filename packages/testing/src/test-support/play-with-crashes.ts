import assert from 'node:assert/strict'
import { createClient } from '@coxswain/client'
import { aborted, VirtualWorld } from '@coxswain/kit'
import { defineOperator, type Operator, runOperator } from '@coxswain/runtime'
import type { Transport } from '@coxswain/wire'
import { type Cluster, startCluster } from '../cluster.ts'

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

const isTorture = Number(process.env.TORTURE_RUNS ?? 0) > 0
const mostCrashes = isTorture ? Number.POSITIVE_INFINITY : 4
const restPeriod = 60_000

/**
 * Plays it undisturbed, and again with the controllers killed right after one of their writes and started anew two seconds
 * later, for several of the writes: the end has to be the same, and stay, with nobody writing any more.
 */
export async function playWithCrashes(play: Play, seed = 5): Promise<number> {
  const writes = await playOnce(play, seed)
  assert.ok(writes > 0, `${play.name}: the controllers wrote nothing`)
  const stride = Math.max(1, Math.ceil(writes / mostCrashes))
  let plays = 1
  for (let after = 1; after <= writes; after += stride, plays++) await playOnce(play, seed, after)
  return plays
}

async function playOnce(play: Play, seed: number, crashAfter?: number): Promise<number> {
  const message = `${play.name}${crashAfter === undefined ? '' : `, killed after write ${crashAfter}`}`
  const world = new VirtualWorld({ seed })
  await using cluster = await startCluster({ env: world })
  for (const operator of play.others?.() ?? []) cluster.start(operator)
  const process = new Mortal(cluster, world, play.controllers, crashAfter)
  process.boot()
  try {
    await cluster.advance(2_000)
    await play.act(cluster)
    await cluster.advance(5_000)
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
class Mortal {
  writes = 0
  readonly #cluster: Cluster
  readonly #world: VirtualWorld
  readonly #controllers: () => readonly Operator[]
  readonly #crashAfter: number | undefined
  #stop = new AbortController()
  #done: Promise<unknown> = Promise.resolve()
  #isStopped = false

  constructor(
    cluster: Cluster,
    world: VirtualWorld,
    controllers: () => readonly Operator[],
    crashAfter?: number,
  ) {
    this.#cluster = cluster
    this.#world = world
    this.#controllers = controllers
    this.#crashAfter = crashAfter
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
        const number = isWrite ? ++this.writes : 0
        const response = await inner.send(request)
        if (number > 0 && number === this.#crashAfter) {
          isDead = true
          this.#restart()
        }
        return isDead ? await never(request.signal) : response
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
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

async function never(signal: AbortSignal): Promise<never> {
  await aborted(signal)
  throw signal.reason
}
