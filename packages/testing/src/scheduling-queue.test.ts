import { describe } from 'node:test'
import { queueScenarios } from './test-support/scheduling/index.ts'
import { schedulingScenarios } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: who waits for what, and who is asked', () => {
  schedulingScenarios(queueScenarios)
})
