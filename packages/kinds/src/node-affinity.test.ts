import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeView } from './node.ts'
import { matchesNodeSelectorTerm, matchesRequiredNodeAffinity } from './node-affinity.ts'

const node = { metadata: { name: 'n', labels: { zone: 'a', size: '10' } } } as unknown as NodeView

describe('a node selector term', () => {
  const matches = (
    operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt',
    key: string,
    ...values: string[]
  ) => matchesNodeSelectorTerm({ matchExpressions: [{ key, operator, values }] }, node)

  it('matches by the labels of a node', () => {
    assert.equal(matches('In', 'zone', 'a', 'b'), true)
    assert.equal(matches('NotIn', 'zone', 'a'), false)
    assert.equal(matches('NotIn', 'other', 'a'), true)
    assert.equal(matches('Exists', 'zone'), true)
    assert.equal(matches('DoesNotExist', 'zone'), false)
    assert.equal(matches('Gt', 'size', '9'), true)
    assert.equal(matches('Lt', 'size', '9'), false)
    assert.equal(matches('Gt', 'zone', '9'), false)
  })

  it('matches by the name of a node', () => {
    const byName = (name: string) => ({
      matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [name] }],
    })
    assert.equal(matchesNodeSelectorTerm(byName('n'), node), true)
    assert.equal(matchesNodeSelectorTerm(byName('m'), node), false)
  })

  it('matches nothing when it is empty', () => {
    assert.equal(matchesNodeSelectorTerm({}, node), false)
  })

  it('does not take inherited properties for labels', () => {
    for (const key of ['constructor', 'toString']) {
      assert.equal(matches('Exists', key), false)
      assert.equal(matches('DoesNotExist', key), true)
    }
  })
})

describe('the required affinity of a Pod', () => {
  it('is its nodeSelector and any term of its node affinity', () => {
    assert.equal(matchesRequiredNodeAffinity({}, node), true)
    assert.equal(matchesRequiredNodeAffinity({ nodeSelector: { zone: 'b' } }, node), false)
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{}, { matchExpressions: [{ key: 'zone', operator: 'Exists' as const }] }],
      },
    }
    assert.equal(matchesRequiredNodeAffinity({ affinity: { nodeAffinity } }, node), true)
    assert.equal(
      matchesRequiredNodeAffinity({ nodeSelector: { zone: 'b' }, affinity: { nodeAffinity } }, node),
      false,
    )
  })
})
