import assert from 'node:assert/strict'
import { VirtualWorld } from '@coxswain/kit'
import { createScheduler } from '@coxswain/scheduler'
import { startCluster } from '../../cluster.ts'
import { crashPoints, isTorture } from '../crash-points.ts'
import { Mortal, type Trouble } from '../play-with-crashes.ts'
import { apply, create, look } from './apply-step.ts'
import { answerExtender, house, optionsOf, type Tries } from './house.ts'
import type { Scenario } from './scenario.ts'

const seeds = isTorture ? [1, 2, 3] : [1]
/** How long it has to stay as it is. */
const restPeriod = 60_000

/**
 * Plays it undisturbed, where every step has to end as it says; and with stale caches and conflicts, and with the
 * scheduler killed after one of its writes, where the last step has to end so, and stay.
 */
export async function playScenario(scenario: Scenario): Promise<void> {
  for (const seed of seeds) {
    const writes = await playOnce(scenario, seed, {})
    await playOnce(scenario, seed, { conflictEach: 3, lag: 300 })
    if (isTorture) await playOnce(scenario, seed, { lag: 1_000 })
    for (const crashAfter of crashPoints(writes, scenario.name.length))
      await playOnce(scenario, seed, { crashAfter })
  }
}

async function playOnce(scenario: Scenario, seed: number, trouble: Trouble): Promise<number> {
  const world = new VirtualWorld({ seed })
  await using cluster = await startCluster({ env: world, controllers: false })
  const { client } = cluster
  const isDisturbed = Object.keys(trouble).length > 0
  const tries: Tries = { count: 0 }
  const createOptions = () =>
    optionsOf(tries, () => async (url, body) => answerExtender(url, body), scenario.plugins?.())
  const process = new Mortal(cluster, world, () => [createScheduler(createOptions())], trouble)
  for (const given of [...house, ...scenario.nodes]) await cluster.run(create(client, given))
  process.boot()
  try {
    await cluster.advance(1_000)
    for (const [index, step] of scenario.steps.entries()) {
      const before = tries.count
      await cluster.run(apply(client, step))
      await cluster.advance((step.wait ?? 5_000) + (isDisturbed ? 15_000 : 0))
      if (isDisturbed) continue
      const message = `step ${index + 1}`
      assert.deepEqual(await cluster.run(look(client, step)), step.end ?? {}, message)
      if (step.tries !== undefined) assert.equal(tries.count - before, step.tries, `${message}: tries`)
    }
    await cluster.advance(restPeriod)
    const { writes } = process
    const last = scenario.steps.at(-1)!
    const message = `seed ${seed}, ${JSON.stringify(trouble)}`
    assert.deepEqual(await cluster.run(look(client, last)), last.end, message)
    await cluster.advance(restPeriod)
    assert.deepEqual(await cluster.run(look(client, last)), last.end, `${message}: it does not stay`)
    assert.equal(process.writes, writes, `${message}: it writes when all is done`)
    return writes
  } finally {
    await process.stop()
  }
}
