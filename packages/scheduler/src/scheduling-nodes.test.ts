import { describe } from 'node:test'
import { nodeScenarios, resourceScenarios } from '@coxswain/testing/test-support/scheduling/index'
import { schedulingScenarios } from '@coxswain/testing/test-support/scheduling/play-scenario'

describe('scheduling: node resources and selection', () => {
  schedulingScenarios([...nodeScenarios, ...resourceScenarios])
})
