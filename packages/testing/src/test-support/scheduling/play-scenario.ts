import assert from 'node:assert/strict'
import { createScheduler } from '@coxswain/scheduler'
import { scenariosOf } from '../play.ts'
import { apply, create, look } from './apply-step.ts'
import { answerExtender, house, optionsOf, type Tries } from './house.ts'
import type { Scenario } from './scenario.ts'

/**
 * Tests of scenarios: undisturbed, every step has to end as it says; with everything that goes wrong the last one has to,
 * and to stay. What a name says before its colon is the plug-in.
 */
export function schedulingScenarios(scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) {
    const { name, nodes, steps, plugins } = scenario
    const tries: Tries = { count: 0 }
    const createOptions = () =>
      optionsOf(tries, () => async (url, body) => answerExtender(url, body), plugins?.())
    const last = steps.at(-1)!
    scenariosOf(pluginOf(name), { hasHousekeeping: false })(name, {
      controllers: () => [createScheduler(createOptions())],
      before: async ({ client, run }) => {
        for (const given of [...house, ...nodes]) await run(create(client, given))
      },
      act: async (cluster, { isTroubled }) => {
        const { client } = cluster
        for (const [index, step] of steps.entries()) {
          const before = tries.count
          await cluster.run(apply(client, step))
          await cluster.advance((step.wait ?? 5_000) + (isTroubled ? 15_000 : 0))
          if (isTroubled) continue
          const message = `step ${index + 1}`
          assert.deepEqual(await cluster.run(look(client, step)), step.end ?? {}, message)
          if (step.tries !== undefined) assert.equal(tries.count - before, step.tries, `${message}: tries`)
        }
      },
      look: cluster => cluster.run(look(cluster.client, last)),
      end: last.end,
    })
  }
}

const pluginOf = (name: string) => `kube-scheduler: ${name.split(': ')[0]}`
