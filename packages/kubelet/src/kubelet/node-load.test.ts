import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodView } from '@coxswain/kinds'
import { NodeLoad } from './node-load.ts'

const podOf = (uid: string, spec: object = {}): PodView =>
  ({ metadata: { uid }, spec: { containers: [], ...spec } }) as unknown as PodView

describe('a node', () => {
  it('accepts pods up to its capacity, and another when one is removed', () => {
    const load = new NodeLoad({ pods: '2', cpu: '1' })
    assert.equal(load.take(podOf('a'), true), undefined)
    assert.equal(load.take(podOf('b'), true), undefined)
    assert.deepEqual(load.take(podOf('c'), true), {
      reason: 'OutOfpods',
      message: "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2",
    })
    load.release('a')
    load.release('a')
    assert.equal(load.take(podOf('c'), true), undefined)
    assert.equal(load.take(podOf('d'), true)?.reason, 'OutOfpods')
  })

  it('keeps pods that it already had, even if it would not accept them now', () => {
    const load = new NodeLoad({ pods: '10', memory: '1Gi' })
    const big = { containers: [{ name: 'c', resources: { requests: { memory: '2Gi' } } }] }
    assert.equal(load.take(podOf('a', big), false), undefined)
    assert.deepEqual(load.take(podOf('b', big), true), {
      reason: 'OutOfmemory',
      message:
        "Node didn't have enough resource: memory, requested: 2147483648, used: 2147483648, capacity: 1073741824",
    })
    assert.equal(load.take(podOf('c'), true), undefined)
  })
})
