import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeView } from '@coxswain/kinds'
import { computeZoneStates } from './zones.ts'

/** The numbers of ready and unready nodes of a zone. */
const nodes = (zone: string, ready: number, silent: number, more: object = {}): NodeView[] =>
  Array.from({ length: ready + silent }, (_, nth) => ({
    metadata: { labels: { 'topology.kubernetes.io/zone': zone, ...more } },
    status: { conditions: [{ type: 'Ready', status: nth < ready ? 'True' : 'Unknown' }] },
  })) as unknown as NodeView[]
const slowness = (given: readonly NodeView[]) =>
  Object.fromEntries([...(computeZoneStates(given) ?? [])].map(([zone, state]) => [zone, state.slowness]))

describe('zones', () => {
  it('are evicted at the normal rate while most nodes are ready, ignoring excluded ones', () => {
    assert.deepEqual(slowness([...nodes('a', 3, 2), ...nodes('b', 0, 3)]), { ':a': 1, ':b': 1 })
  })

  it('are not evicted if a small zone is mostly unready, and slowly if it is large', () => {
    assert.deepEqual(slowness(nodes('a', 2, 3)), { ':a': Number.POSITIVE_INFINITY })
    assert.deepEqual(slowness(nodes('a', 1, 2)), { ':a': 1 })
    assert.deepEqual(slowness(nodes('a', 20, 40)), { ':a': 10 })
  })

  it('have no state if no node is ready, ignoring excluded ones', () => {
    assert.equal(computeZoneStates([...nodes('a', 0, 1), ...nodes('b', 0, 2)]), undefined)
    const apart = nodes('b', 1, 0, { 'node.kubernetes.io/exclude-disruption': '' })
    assert.equal(computeZoneStates([...nodes('a', 0, 1), ...apart]), undefined)
  })
})
