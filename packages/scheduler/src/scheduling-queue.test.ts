import { describe } from 'node:test'
import { queueScenarios } from '@coxswain/testing/test-support/scheduling/index'
import { schedulingScenarios } from '@coxswain/testing/test-support/scheduling/play-scenario'

describe('scheduling: the queue and its plug-ins', () => {
  schedulingScenarios(queueScenarios)
})
