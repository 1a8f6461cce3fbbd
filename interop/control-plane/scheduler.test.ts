import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { apply, clear, create, look } from '../../packages/testing/src/test-support/scheduling/apply-step.ts'
import * as tables from '../../packages/testing/src/test-support/scheduling/index.ts'
import type { Scenario } from '../../packages/testing/src/test-support/scheduling/scenario.ts'
import { type Side, startOurs, startReal } from './scheduler-sides.ts'

const longest = Number(process.env.LONGEST ?? 15_000)
/** How long nothing more may happen once it is as it should be. */
const still = 300

/** What came of each step. Waits until it is as it should be, or for long. */
async function play({ client, countTries }: Side, scenario: Scenario): Promise<object[]> {
  const outcomes: object[] = []
  try {
    for (const given of scenario.nodes) await create(client, given)
    await sleep(100)
    for (const step of scenario.steps) {
      const triesBefore = await countTries()
      await apply(client, step, () => sleep(still))
      const deadline = performance.now() + longest
      let end = await look(client, step)
      while (performance.now() < deadline && !isDeepStrictEqual(end, step.end ?? {})) {
        await sleep(50)
        end = await look(client, step)
      }
      await sleep(still)
      end = await look(client, step)
      const tries = (await countTries()) - triesBefore
      outcomes.push({ end, ...(step.tries !== undefined && { tries }) })
    }
  } finally {
    await clear(client, scenario)
    await sleep(100)
  }
  return outcomes
}

describe('scheduling beside the real kube-scheduler', () => {
  const stack = new AsyncDisposableStack()
  let real: Side
  let ours: Side
  before(async () => {
    real = await startReal(stack)
    ours = await startOurs(stack)
  })
  after(() => stack.disposeAsync())

  for (const scenario of Object.values(tables).flat()) {
    if (scenario.onlyVirtual || scenario.plugins) continue
    it(scenario.name, async () => {
      const expected = scenario.steps.map(({ end = {}, tries }) => ({
        end,
        ...(tries !== undefined && { tries }),
      }))
      const [theirs, own] = await Promise.all([play(real, scenario), play(ours, scenario)])
      assert.deepEqual(theirs, expected, 'the real scheduler')
      assert.deepEqual(own, expected, 'ours')
    })
  }
})
