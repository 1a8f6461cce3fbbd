import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Pod } from '@coxswain/api/core/v1'
import { isNotFound } from '@coxswain/apimachinery/status'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Client } from '@coxswain/client'
import { VirtualWorld } from '@coxswain/kit'
import { createScheduler } from '@coxswain/scheduler'
import { startCluster } from '../../../packages/testing/src/cluster.ts'
import { create } from '../../../packages/testing/src/test-support/scheduling/apply-step.ts'
import { house } from '../../../packages/testing/src/test-support/scheduling/house.ts'
import { type RealScheduler, startRealScheduler } from '../kube-scheduler.ts'
import { openHouse } from '../scheduler-sides.ts'
import type { Case } from './draw-case.ts'
import { readScores, ScoreKeeper, type Scores } from './scores.ts'
import { type Snapshot, takeSnapshot } from './snapshot.ts'

/** What came of one pod. */
export interface Outcome {
  readonly snapshot: Snapshot
  readonly scores: Scores | undefined
}

/** As short as can be: then it is over whenever something changes, on either clock. */
const backoff = { initialBackoff: 1_000, maxBackoff: 1_000 }
const realBackoff = { podInitialBackoffSeconds: 1, podMaxBackoffSeconds: 1 }

async function prepare(client: Client, { before }: Case): Promise<void> {
  for (const given of before) await Promise.all(given.map(each => create(client, each)))
}

/** As a kubelet would: of pods that have not started, and of those that started together, chance says who has to leave. */
async function startPods(client: Client, { pods }: Case): Promise<void> {
  for (const [index, [, { metadata }]] of pods.entries()) {
    const key = { name: metadata.name, namespace: metadata.namespace ?? '' }
    const found = await client.get(Pod, key)
    if (!found?.spec.nodeName || found.status?.startTime) continue
    const status = { phase: 'Running', startTime: formatTime(firstStart + index * 60_000) }
    await client.patch(Pod, key, { status }, { type: 'merge', subresource: 'status' })
  }
}

const firstStart = Date.parse('2026-06-01T00:00:00Z')

/** With our scheduler, on a virtual clock. `luck` says how chance decides. */
export async function playOurs(drawn: Case, luck: number): Promise<Outcome[]> {
  const world = new VirtualWorld({ seed: luck })
  await using cluster = await startCluster({ env: world, controllers: false })
  const { client } = cluster
  for (const given of house) await cluster.run(create(client, given))
  await cluster.run(prepare(client, drawn))
  const keeper = new ScoreKeeper()
  cluster.start(createScheduler({ profiles: keeper.profiles, ...backoff }))
  await cluster.advance(1_000)
  const outcomes: Outcome[] = []
  for (const [index, { run, pod }] of drawn.steps.entries()) {
    await cluster.run(run(client))
    await cluster.advance(3_000)
    const snapshot = await cluster.run(takeSnapshot(client, drawn, index))
    outcomes.push({ snapshot, scores: pod === undefined ? undefined : keeper.of(pod) })
    await cluster.run(startPods(client, drawn))
    await cluster.advance(100)
  }
  return outcomes
}

/** How long the real one may take to do as expected. */
const patience = 4_000
/** After a change pods that wait may have to wait for their back-off. */
const longPatience = 6_000

/** The real one, with a server of ours. */
export class RealSide implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack
  readonly #client: Client
  readonly #scheduler: RealScheduler

  private constructor(stack: AsyncDisposableStack, client: Client, scheduler: RealScheduler) {
    this.#stack = stack
    this.#client = client
    this.#scheduler = scheduler
  }

  static async start(): Promise<RealSide> {
    await using stack = new AsyncDisposableStack()
    const { client, kubeconfig } = await openHouse(stack)
    const scheduler = stack.use(
      await startRealScheduler(kubeconfig, realBackoff, ['--vmodule=schedule_one=10']),
    )
    return new RealSide(stack.move(), client, scheduler)
  }

  /** Rejects with the last words of the scheduler when it ends by itself. */
  get crashed(): Promise<never> {
    return this.#scheduler.crashed
  }

  /** `pause`: for the scheduler to see what is there. */
  async prepare(drawn: Case, pause: number): Promise<void> {
    await prepare(this.#client, drawn)
    await sleep(pause)
  }

  /** The next step. Waits until everything is as expected, and for that no longer than it has to. */
  async play(drawn: Case, index: number, expected: Snapshot): Promise<Outcome> {
    const { run, pod } = drawn.steps[index]!
    if (pod === undefined) await sleep(backoff.maxBackoff + 100)
    const seen = this.#scheduler.log.length
    await run(this.#client)
    const deadline = performance.now() + (pod === undefined ? longPatience : patience)
    let snapshot = await takeSnapshot(this.#client, drawn, index)
    const hasNode = () => pod !== undefined && snapshot[pod]?.startsWith(`s${drawn.seed}-`)
    while (performance.now() < deadline && !hasNode() && !isDeepStrictEqual(snapshot, expected)) {
      await sleep(40)
      snapshot = await takeSnapshot(this.#client, drawn, index)
    }
    await sleep(pod === undefined ? 250 : 50)
    snapshot = await takeSnapshot(this.#client, drawn, index)
    await startPods(this.#client, drawn)
    const scores = pod === undefined ? undefined : readScores(this.#scheduler.log.slice(seen), pod)
    return { snapshot, scores }
  }

  async clear({ before, pods, later }: Case): Promise<void> {
    const client = this.#client
    const away = async ([kind, { metadata }]: Case['pods'][number]) => {
      const key = { name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) }
      try {
        await client.delete(kind, key, { gracePeriodSeconds: 0 })
        await client.patch(kind, key, { metadata: { finalizers: null } }, { type: 'merge' })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
    await Promise.all([...pods, ...(before[1] ?? [])].map(away))
    await Promise.all([...(before[0] ?? []), ...later].map(away))
    await sleep(50)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}
