import { describe } from 'node:test'
import { testReplicas } from '../../packages/cli/src/run/replicas.suite.ts'
import { startSession } from './session.ts'

describe('two replicas by coxswain run, against a real server', () => {
  testReplicas(() => startSession('replicas'))
})
