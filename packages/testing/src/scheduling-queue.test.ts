import { describe, it } from 'node:test'
import { queueScenarios } from './test-support/scheduling/index.ts'
import { playScenario } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: who waits for what, and who is asked', () => {
  for (const scenario of queueScenarios) it(scenario.name, () => playScenario(scenario))
})
