import { describe, it } from 'node:test'
import { affinityScenarios, spreadScenarios } from './test-support/scheduling/index.ts'
import { playScenario } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: who is near whom', () => {
  for (const scenario of [...affinityScenarios, ...spreadScenarios])
    it(scenario.name, () => playScenario(scenario))
})
