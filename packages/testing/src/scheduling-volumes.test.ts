import { describe } from 'node:test'
import { volumeScenarios } from './test-support/scheduling/index.ts'
import { schedulingScenarios } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: volumes', () => {
  schedulingScenarios(volumeScenarios)
})
