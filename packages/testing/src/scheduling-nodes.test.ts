import { describe } from 'node:test'
import { nodeScenarios, resourceScenarios } from './test-support/scheduling/index.ts'
import { schedulingScenarios } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: what nodes have and pods ask for', () => {
  schedulingScenarios([...nodeScenarios, ...resourceScenarios])
})
