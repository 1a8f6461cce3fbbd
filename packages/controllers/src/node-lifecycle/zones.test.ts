import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NodeView } from '@coxswain/kinds'
import { judgeZones } from './zones.ts'

/** So many nodes of a zone that are ready, and so many that are not. */
const nodes = (zone: string, ready: number, silent: number, more: object = {}): NodeView[] =>
  Array.from({ length: ready + silent }, (_, nth) => ({
    metadata: { labels: { 'topology.kubernetes.io/zone': zone, ...more } },
    status: { conditions: [{ type: 'Ready', status: nth < ready ? 'True' : 'Unknown' }] },
  })) as unknown as NodeView[]
const slowness = (given: readonly NodeView[]) =>
  Object.fromEntries([...(judgeZones(given) ?? [])].map(([zone, state]) => [zone, state.slowness]))

describe('zones', () => {
  it('are emptied as usual while most nodes are ready, or none but those of others', () => {
    assert.deepEqual(slowness([...nodes('a', 3, 2), ...nodes('b', 0, 3)]), { ':a': 1, ':b': 1 })
  })

  it('are left alone when most of a few are not ready, and emptied slowly when there are many', () => {
    assert.deepEqual(slowness(nodes('a', 2, 3)), { ':a': Number.POSITIVE_INFINITY })
    assert.deepEqual(slowness(nodes('a', 1, 2)), { ':a': 1 })
    assert.deepEqual(slowness(nodes('a', 20, 40)), { ':a': 10 })
  })

  it('are not to be judged when no node is ready, those left out of account apart', () => {
    assert.equal(judgeZones([...nodes('a', 0, 1), ...nodes('b', 0, 2)]), undefined)
    const apart = nodes('b', 1, 0, { 'node.kubernetes.io/exclude-disruption': '' })
    assert.equal(judgeZones([...nodes('a', 0, 1), ...apart]), undefined)
  })
})
