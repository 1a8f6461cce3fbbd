/**
 * Scenarios, each played in a namespace of its own with the real kube-controller-manager and with our controllers, on two
 * servers of ours; the ends have to be alike. Where they are not the scenario is played once more after all others: what a conflict
 * or a busy machine decided will not be decided so twice. `SCENARIOS=REGEX` plays only those whose family and name it fits.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { findDifferences } from './comparison/differences.ts'
import { cronJobScenarios } from './comparison/scenarios/cron-jobs.ts'
import { daemonSetScenarios } from './comparison/scenarios/daemon-sets.ts'
import { deploymentScenarios } from './comparison/scenarios/deployments.ts'
import { garbageCollectionScenarios } from './comparison/scenarios/garbage-collection.ts'
import { jobScenarios } from './comparison/scenarios/jobs.ts'
import { replicaSetScenarios } from './comparison/scenarios/replica-sets.ts'
import { serviceScenarios } from './comparison/scenarios/services.ts'
import { statefulSetScenarios } from './comparison/scenarios/stateful-sets.ts'
import { type Side, startSide } from './comparison/side.ts'
import type { Scenario } from './comparison/stage.ts'

/** Those that wait for the clock come first. */
const families: Readonly<Record<string, readonly Scenario[]>> = {
  cronjob: cronJobScenarios,
  deployment: deploymentScenarios,
  replicaset: replicaSetScenarios,
  statefulset: statefulSetScenarios,
  job: jobScenarios,
  daemonset: daemonSetScenarios,
  service: serviceScenarios,
  gc: garbageCollectionScenarios,
}
const wanted = new RegExp(process.env.SCENARIOS ?? '')
/** Scenarios that are played at one time, each with both. */
const atOnce = 10
/** What the namespace of a second try ends with. */
const again = '-again'

/** A scenario that waits to be played. Resolves with the differences. */
interface Performance extends PromiseWithResolvers<readonly string[]> {
  readonly scenario: Scenario
  readonly namespace: string
}

describe('the real kube-controller-manager and ours end alike', () => {
  const stack = new AsyncDisposableStack()
  const waiting: Performance[] = []

  before(async () => {
    const real = stack.use(await startSide('real'))
    const ours = stack.use(await startSide('ours'))
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const found = await play(real, ours, next)
        if (found.length > 0 && !next.namespace.endsWith(again))
          waiting.push({ ...next, namespace: `${next.namespace}${again}` })
        else next.resolve(found)
      }
    }
    for (let count = 0; count < atOnce; count++) work()
  })
  after(() => stack.disposeAsync())

  for (const [family, scenarios] of Object.entries(families))
    describe(family, () => {
      for (const [index, scenario] of scenarios.entries()) {
        if (!wanted.test(`${family}: ${scenario.name}`)) continue
        const performance = {
          ...Promise.withResolvers<readonly string[]>(),
          scenario,
          namespace: `${family}-${index}`,
        }
        waiting.push(performance)
        it(scenario.name, async () => {
          assert.deepEqual(await performance.promise, [])
        })
      }
    })
})

async function play(real: Side, ours: Side, { scenario, namespace }: Performance): Promise<string[]> {
  const [first, second] = await Promise.allSettled([
    real.play(scenario, namespace),
    ours.play(scenario, namespace),
  ])
  if (first.status === 'rejected') return [`not played with the real ones: ${first.reason}`]
  if (second.status === 'rejected') return [`not played with ours: ${second.reason}`]
  return findDifferences(first.value, second.value)
}
