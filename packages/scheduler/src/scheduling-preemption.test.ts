import { describe } from 'node:test'
import { preemptionScenarios } from '@coxswain/testing/test-support/scheduling/index'
import { schedulingScenarios } from '@coxswain/testing/test-support/scheduling/play-scenario'

describe('scheduling: who has to leave for whom', () => {
  schedulingScenarios(preemptionScenarios)
})
