import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { startTarget } from '../support/target.ts'
import { collectFacts, type Facts } from './facts.ts'

const recorded = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as Facts

describe('extension API servers that answer slowly, wrongly, by halves or not at all', async () => {
  await using target = await startTarget()
  const facts = await collectFacts(target.kubeconfig)

  it('are all recorded', () => assert.deepEqual(Object.keys(facts), Object.keys(recorded)))
  for (const [name, fact] of Object.entries(recorded))
    it(`${name}: as a kube-apiserver 1.36`, () => assert.deepEqual(facts[name], fact))
})
