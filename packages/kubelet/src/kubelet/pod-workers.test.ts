import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PodWorker } from './pod-worker.ts'
import { PodWorkers } from './pod-workers.ts'

const workerOn = (nodeName: string) => ({ pod: { spec: { nodeName } } }) as unknown as PodWorker

describe('the workers of Pods', () => {
  it('are found by name and by node until they are deleted or replaced', () => {
    const workers = new PodWorkers()
    const [first, second, next] = [workerOn('node-1'), workerOn('node-1'), workerOn('node-2')]
    workers.set('default/a', first)
    workers.set('default/b', second)
    assert.deepEqual([...workers.ofNode('node-1')], [first, second])
    workers.set('default/a', next)
    assert.equal(workers.get('default/a'), next)
    assert.deepEqual([...workers.ofNode('node-1')], [second])
    assert.deepEqual([...workers.ofNode('node-2')], [next])
    workers.delete('default/b')
    workers.delete('default/b')
    assert.deepEqual([...workers.ofNode('node-1')], [])
    assert.deepEqual([...workers.values()], [next])
    workers.clear()
    assert.deepEqual([...workers.ofNode('node-2')], [])
  })
})
