import { describe } from 'node:test'
import { volumeScenarios } from '@coxswain/testing/test-support/scheduling/index'
import { schedulingScenarios } from '@coxswain/testing/test-support/scheduling/play-scenario'

describe('scheduling: volumes', () => {
  schedulingScenarios(volumeScenarios)
})
