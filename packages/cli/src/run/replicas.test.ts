import { describe } from 'node:test'
import { launch } from '../test-support/commands.ts'
import { testReplicas } from './replicas.suite.ts'

describe('two replicas of an operator', () => {
  testReplicas(async () => {
    const {
      client,
      kubeconfig,
      [Symbol.asyncDispose]: dispose,
    } = await launch('--storage', 'memory', '--controllers', 'none')
    return { client, kubeconfig, namespace: 'default', [Symbol.asyncDispose]: dispose }
  })
})
