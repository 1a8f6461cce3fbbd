import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { GoldenClient } from './client.ts'
import { compareWatches } from './compare-watch.ts'
import { loadScenarios, play } from './play.ts'
import type { Scenario } from './scenario.ts'
import { startGoldenServer } from './server.ts'

const workers = 12

/** Scenarios that are known to differ, by the reason: see README.md. */
const known: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('./known-watch-differences.json', import.meta.url), 'utf8'),
)

describe('the recorded watches of kube-apiserver 1.36.4', () => {
  it('see the same on our server, except for those that are known to differ', async () => {
    await using server = await startGoldenServer()
    await using client = new GoldenClient(server.kubeconfig)
    await client.prepare()
    const scenarios = await loadScenarios()
    const differences = async (scenario: Scenario) => {
      try {
        return compareWatches(scenario, await play(client, scenario))
      } catch (error) {
        return [error instanceof Error ? error.message : String(error)]
      }
    }
    const found = new Map<string, readonly string[]>()
    // Those that wait longest first: the others fill the gaps.
    const queue = scenarios.toSorted((a, b) => waitingTime(b) - waitingTime(a))
    const work = async () => {
      for (let scenario = queue.shift(); scenario; scenario = queue.shift())
        found.set(scenario.id, await differences(scenario))
    }
    await Promise.all(Array.from({ length: workers }, work))

    const expected = new Set(Object.values(known).flat())
    const surprises: string[] = []
    const isSame = (id: string) => found.get(id)!.length === 0
    for (const scenario of scenarios) {
      if (isSame(scenario.id) || expected.has(scenario.id)) continue
      // Once more, alone: what depends on the load of the machine is no difference.
      const again = await differences(scenario)
      found.set(scenario.id, again)
      if (again.length > 0)
        surprises.push(`${scenario.id} (${scenario.about})\n  ${again.join('\n  ').slice(0, 2000)}`)
    }
    const better = [...expected].filter(id => found.has(id) && isSame(id))
    console.log(`${scenarios.filter(({ id }) => isSame(id)).length} of ${scenarios.length} the same`)
    if (better.length > 0)
      console.log(`no longer different, take them off the list: ${better.length}\n${better.join('\n')}`)
    assert.deepEqual(surprises, [])
    assert.deepEqual(
      [...expected].filter(id => !found.has(id)),
      [],
      'every listed scenario exists',
    )
  })
})

function waitingTime({ steps }: Scenario): number {
  return steps.reduce((sum, step) => sum + ('pause' in step ? step.pause : 'closed' in step ? 5 : 0), 0)
}
