import { describe } from 'node:test'
import { preemptionScenarios } from '@coxswain/testing/test-support/scheduling/index'
import { schedulingScenarios } from '@coxswain/testing/test-support/scheduling/play-scenario'

describe('scheduling: preemption', () => {
  schedulingScenarios(preemptionScenarios)
})
