import { describe, it } from 'node:test'
import { preemptionScenarios } from './test-support/scheduling/index.ts'
import { playScenario } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: who has to leave for whom', () => {
  for (const scenario of preemptionScenarios) it(scenario.name, () => playScenario(scenario))
})
