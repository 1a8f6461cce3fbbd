import { describe } from 'node:test'
import { queueScenarios } from '@coxswain/testing/test-support/scheduling/index'
import { schedulingScenarios } from '@coxswain/testing/test-support/scheduling/play-scenario'

describe('scheduling: who waits for what, and who is asked', () => {
  schedulingScenarios(queueScenarios)
})
