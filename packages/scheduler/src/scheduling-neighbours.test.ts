import { describe } from 'node:test'
import { affinityScenarios, spreadScenarios } from '@coxswain/testing/test-support/scheduling/index'
import { schedulingScenarios } from '@coxswain/testing/test-support/scheduling/play-scenario'

describe('scheduling: affinity, anti-affinity and topology spread', () => {
  schedulingScenarios([...affinityScenarios, ...spreadScenarios])
})
