import { describe } from 'node:test'
import { preemptionScenarios } from './test-support/scheduling/index.ts'
import { schedulingScenarios } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: who has to leave for whom', () => {
  schedulingScenarios(preemptionScenarios)
})
