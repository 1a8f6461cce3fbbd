import { simulate } from '@coxswain/simulator'
import operator, { At } from '../../examples/01-at/operator.ts'
import type { BenchDefinition } from '../harness.ts'

/** Runs before the first measurement, so that the code is compiled. */
const warmUp = 150
const runsPerRound = 100

const key = { namespace: 'default', name: 'a' }

/** Runs per second of processor time: one core, all oracles, a new fault in each run. */
async function runsPerSecond(runs: number): Promise<number> {
  const begin = process.cpuUsage()
  const report = await simulate(operator, {
    scenario: async ({ client, clock, settle }) => {
      const schedule = new Date(clock.now() + 5_000).toISOString()
      const containers = [{ name: 'shell', image: 'busybox' }]
      await client.create(At.v1alpha1, { metadata: key, spec: { schedule, containers } })
      await settle()
    },
    budget: { runs },
    maxFailures: Number.POSITIVE_INFINITY,
  })
  const { user, system } = process.cpuUsage(begin)
  return report.runs / ((user + system) / 1e6)
}

export const bench: BenchDefinition = {
  title: 'simulator: runs of the At example with all oracles, per second of processor time',
  rounds: 5,
  async cases() {
    await runsPerSecond(warmUp)
    return [
      {
        name: 'At, every single fault',
        unit: 'runs/s',
        measure: () => runsPerSecond(runsPerRound),
        goal: { of: 'value', atLeast: 100 },
      },
    ]
  },
}
