import { describe, it } from 'node:test'
import { volumeScenarios } from './test-support/scheduling/index.ts'
import { playScenario } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: volumes', () => {
  for (const scenario of volumeScenarios) it(scenario.name, () => playScenario(scenario))
})
