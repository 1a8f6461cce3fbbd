import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findProblems } from '../test-support/find-problems.ts'
import { bootstrapFlowControl } from './bootstrap.ts'
import { flowSchemaStrategy } from './flow-schema.ts'
import { priorityLevelConfigurationStrategy } from './priority-level-configuration.ts'

const strategies = {
  FlowSchema: flowSchemaStrategy,
  PriorityLevelConfiguration: priorityLevelConfigurationStrategy,
}

describe('bootstrap objects', () => {
  it('keep to the rules of their kinds, and defaults change nothing', () => {
    for (const object of bootstrapFlowControl()) {
      const before = structuredClone(object)
      assert.deepEqual(findProblems(strategies[object.kind as keyof typeof strategies], object), [])
      assert.deepEqual(object, before)
    }
  })

  it('refer to levels that are there', () => {
    const objects = bootstrapFlowControl()
    const names = (kind: string) =>
      objects.filter(object => object.kind === kind).map(object => (object.metadata as { name: string }).name)
    const levels = new Set(names('PriorityLevelConfiguration'))
    for (const { kind, spec } of objects) {
      if (kind !== 'FlowSchema') continue
      const { name } = (spec as { priorityLevelConfiguration: { name: string } }).priorityLevelConfiguration
      assert.ok(levels.has(name), name)
    }
    assert.equal(names('FlowSchema').length, 11)
  })
})

describe('flow schemas', () => {
  it('leave the first place to the exempt one', () => {
    const spec = { matchingPrecedence: 1, priorityLevelConfiguration: { name: 'x' } }
    assert.deepEqual(findProblems(flowSchemaStrategy, { metadata: { name: 'a' }, spec }), [
      "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    ])
  })

  it('that are mandatory do not change', () => {
    const spec = { matchingPrecedence: 10000, priorityLevelConfiguration: { name: 'catch-all' } }
    const [problem = '', ...more] = findProblems(flowSchemaStrategy, {
      metadata: { name: 'catch-all' },
      spec,
    })
    assert.match(
      problem,
      /^spec: Invalid value: \{"PriorityLevelConfiguration":.*spec of 'catch-all' must equal/,
    )
    assert.deepEqual(more, [])
  })

  it('have subjects with the member of their kind and no other', () => {
    const subjects = [{ kind: 'User', group: { name: 'g' } }]
    const rules = [{ subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a*'] }] }]
    const spec = { priorityLevelConfiguration: { name: 'x' }, rules }
    assert.deepEqual(findProblems(flowSchemaStrategy, { metadata: { name: 'a' }, spec }), [
      "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching',
    ])
  })
})

describe('priority levels', () => {
  it('deal hands that a hash is long enough for', () => {
    const queuing = { queues: 1024, handSize: 7, queueLengthLimit: 1 }
    const spec = { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing } } }
    assert.deepEqual(findProblems(priorityLevelConfigurationStrategy, { metadata: { name: 'a' }, spec }), [
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60',
    ])
  })

  it('of the exempt kind may have their shares set', () => {
    const metadata = { name: 'exempt' }
    const exempt = { nominalConcurrencyShares: 5 }
    assert.deepEqual(
      findProblems(priorityLevelConfigurationStrategy, { metadata, spec: { type: 'Exempt', exempt } }),
      [],
    )
  })
})
