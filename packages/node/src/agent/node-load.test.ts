import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { NodeLoad, requestOfPod } from './node-load.ts'

const podOf = (uid: string, spec: object = {}): DeepReadonly<Pod> =>
  ({ metadata: { uid }, spec: { containers: [], ...spec } }) as unknown as DeepReadonly<Pod>
const asking = (cpu: string, more: object = {}) => ({ name: 'c', resources: { requests: { cpu } }, ...more })

describe('what a pod needs', () => {
  it('is what its containers need together, or what one needs to get there', () => {
    const sidecar = asking('300m', { restartPolicy: 'Always' })
    const needs = (spec: object) => requestOfPod(podOf('u', spec), 'cpu')
    assert.equal(needs({ containers: [asking('1'), asking('500m')] }), 1_500)
    assert.equal(needs({ containers: [asking('1')], initContainers: [asking('2')] }), 2_000)
    assert.equal(needs({ containers: [asking('1')], initContainers: [sidecar, asking('1')] }), 1_300)
    assert.equal(needs({ containers: [asking('1')], initContainers: [asking('1'), sidecar] }), 1_300)
    assert.equal(needs({ containers: [asking('1')], overhead: { cpu: '10m' } }), 1_010)
    assert.equal(needs({ containers: [asking('1')], resources: { requests: { cpu: '4' } } }), 4_000)
  })
})

describe('a node', () => {
  it('takes as many pods as it can, and another when one has gone', () => {
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

  it('keeps what it had before, though it would not take it now', () => {
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
