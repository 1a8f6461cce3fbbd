import { describe } from 'node:test'
import { affinityScenarios, spreadScenarios } from './test-support/scheduling/index.ts'
import { schedulingScenarios } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: who is near whom', () => {
  schedulingScenarios([...affinityScenarios, ...spreadScenarios])
})
