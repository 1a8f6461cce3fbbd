import assert from 'node:assert/strict'
import type { Kind } from '@coxswain/apimachinery'
import { VirtualWorld } from '@coxswain/kit'
import { startCluster } from '../cluster.ts'
import { crashPoints, isTorture } from './crash-points.ts'
import { aWhile, ConfigMap, Secret, Stage } from './stage.ts'

/** What happens, and what is there in the end. */
export interface Scenario {
  readonly name: string
  /** What is there already when the controllers start. */
  readonly before?: (stage: Stage) => Promise<unknown>
  readonly play?: (stage: Stage) => Promise<void>
  /** See {@link Stage.state}. */
  readonly end: readonly string[]
  /** @default ConfigMaps and Secrets */
  readonly kinds?: readonly Kind[]
  /** The OwnerRefInvalidNamespace events there have to be. @default none */
  readonly events?: RegExp
  /** It goes on trying for ever, as it should. @default false */
  readonly keepsTrying?: boolean
  /** More to look at in the end. */
  readonly check?: (stage: Stage) => Promise<void>
}

/** How long it has to stay as it is. */
const restPeriod = isTorture ? 600_000 : 60_000

async function playOnce(scenario: Scenario, seed: number, crashAfter?: number): Promise<number> {
  const { kinds = [ConfigMap, Secret], play, end, events, check } = scenario
  const message = `${scenario.name}, seed ${seed}${crashAfter === undefined ? '' : `, killed after write ${crashAfter}`}`
  const world = new VirtualWorld({ seed })
  let writes: number
  {
    await using cluster = await startCluster({ env: world, controllers: false })
    const stage = new Stage(cluster, world, crashAfter)
    await scenario.before?.(stage)
    await stage.start()
    try {
      await play?.(stage)
      await stage.later(2 * aWhile)
      assert.deepEqual(await stage.state(kinds), [...end].sort(), message)
      await check?.(stage)
      const reasons = await stage.eventReasons()
      if (events)
        assert.ok(
          reasons.some(reason => events.test(reason)),
          `${message}: ${reasons.join('\n')}`,
        )
      else assert.deepEqual(reasons, [], message)
      await stage.assertRests(kinds, { ms: restPeriod, writes: scenario.keepsTrying ?? false }, message)
      writes = stage.writes
    } finally {
      await stage.stop()
    }
  }
  assert.equal(world.nextTimer, undefined, `${message}: a timer was left behind`)
  return writes
}

/**
 * Plays it undisturbed, and again for each write of the controllers, with the controllers killed right after that write and
 * started anew: the end has to be the same, and stay.
 */
export async function playScenario(scenario: Scenario, seeds: readonly number[]): Promise<number> {
  let plays = 0
  for (const seed of seeds) {
    const writes = await playOnce(scenario, seed)
    plays++
    for (const after of crashPoints(writes, scenario.name.length)) {
      await playOnce(scenario, seed, after)
      plays++
    }
  }
  return plays
}
