import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeView } from '@coxswain/kinds'
import { fingerprintOf, loadBalancedNodes } from './load-balanced-nodes.ts'

const node = (name: string, rest: object = {}, spec: object = {}) =>
  ({ metadata: { name, ...rest }, spec }) as unknown as NodeView
const excluded = (value: string) => ({
  labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': value },
})

describe('nodes behind load balancers', () => {
  it('are all but terminating, excluded and about-to-be-deleted ones', () => {
    const nodes = [
      node('plain'),
      node('out', excluded('')),
      node('out-too', excluded('true')),
      node('in', excluded('false')),
      node('terminating', { deletionTimestamp: '2030-01-01T00:00:00Z' }),
      node('doomed', {}, { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] }),
    ]
    assert.deepEqual(
      loadBalancedNodes(nodes).map(({ metadata }) => metadata.name),
      ['plain', 'in'],
    )
  })

  it('have the same fingerprint in any order, and another one for another instance', () => {
    const [a, b] = [node('a', {}, { providerID: 'local://a' }), node('b')]
    assert.equal(fingerprintOf([a, b]), fingerprintOf([b, a]))
    assert.notEqual(fingerprintOf([a, b]), fingerprintOf([node('a'), b]))
  })
})
