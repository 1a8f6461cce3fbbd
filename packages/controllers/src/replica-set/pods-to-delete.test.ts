import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodView } from '@coxswain/kinds'
import { choosePodsToDelete } from './pods-to-delete.ts'

const podOf = (name: string, cost: string) =>
  ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost },
    },
    spec: { nodeName: 'n' },
    status: { phase: 'Running' },
  }) as unknown as PodView

const firstOf = (...costs: string[]) =>
  choosePodsToDelete(
    costs.map((cost, index) => podOf(String(index), cost)),
    { related: [], count: 1, now: Date.parse('2026-01-01T00:00:10Z') },
  )[0]?.metadata.name

describe('the cost of deleting a Pod', () => {
  it('decides, lowest first', () => {
    assert.equal(firstOf('10', '-5', '0'), '1')
  })

  it('counts as 0 when it is not an int32 as upstream writes it', () => {
    for (const invalid of ['-2147483649', '-9223372036854775809', '-x', ''])
      assert.equal(firstOf('-1', invalid), '0', invalid)
    for (const invalid of ['2147483648', '+10', '010']) assert.equal(firstOf('1', invalid), '1', invalid)
  })
})
