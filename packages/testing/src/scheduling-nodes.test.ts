import { describe, it } from 'node:test'
import { nodeScenarios, resourceScenarios } from './test-support/scheduling/index.ts'
import { playScenario } from './test-support/scheduling/play-scenario.ts'

describe('scheduling: what nodes have and pods ask for', () => {
  for (const scenario of [...nodeScenarios, ...resourceScenarios])
    it(scenario.name, () => playScenario(scenario))
})
