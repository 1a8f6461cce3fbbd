import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OwnWrites } from './own-writes.ts'

const object = (resourceVersion: number, uid = 'u1') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', uid, resourceVersion: String(resourceVersion), creationTimestamp: '' },
})
const at = (resourceVersion: number, epoch = 0) => ({ resourceVersion: String(resourceVersion), epoch })

describe('own writes', () => {
  it('are shown until the cache has caught up', () => {
    const writes = new OwnWrites()
    const written = object(10)
    writes.wrote('a', written, at(5))
    assert.equal(writes.resolve('a', undefined, at(9)), written, 'created, and not cached yet')
    assert.equal(writes.resolve('a', object(9), at(9)), written, 'changed, and not cached yet')
    const newer = object(11)
    assert.equal(writes.resolve('a', newer, at(11)), newer)
    assert.equal(writes.size, 0)
  })

  it('are dropped when the cache is past them and does not have the object', () => {
    const writes = new OwnWrites()
    writes.wrote('a', object(10), at(5))
    assert.equal(writes.resolve('a', undefined, at(10)), undefined)
    assert.equal(writes.size, 0)
  })

  it('keep the newest when answers come out of order', () => {
    const writes = new OwnWrites()
    const newest = object(12)
    writes.wrote('a', newest, at(5))
    writes.wrote('a', object(10), at(5))
    assert.equal(writes.resolve('a', undefined, at(5)), newest)
  })

  it('hide a deleted object, even when the cache has not seen its creation yet', () => {
    const writes = new OwnWrites()
    writes.wrote('a', object(10), at(5))
    writes.deleted('a', object(10).metadata, at(5))
    assert.equal(writes.resolve('a', undefined, at(7)), undefined)
    assert.equal(writes.resolve('a', object(10), at(10)), undefined, 'the creation arrives')
    assert.equal(writes.size, 1)
    assert.equal(writes.resolve('a', undefined, at(11)), undefined, 'the deletion arrives')
    assert.equal(writes.size, 0)
  })

  it('hide an object that is deleted with its last finalizer: the answer has the previous version', () => {
    const writes = new OwnWrites()
    const terminating = object(10)
    const metadata = {
      ...terminating.metadata,
      deletionTimestamp: '2030-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    }
    writes.wrote('a', { ...terminating, metadata }, at(5))
    assert.equal(writes.resolve('a', object(9), at(9)), undefined)
    assert.equal(writes.resolve('a', object(10), at(10)), undefined, 'the previous version arrives')
    assert.equal(writes.resolve('a', undefined, at(11)), undefined, 'the deletion arrives')
    assert.equal(writes.size, 0)
  })

  it('show a terminating object with a grace period or a finalizer', () => {
    for (const more of [{ deletionGracePeriodSeconds: 30 }, { finalizers: ['example.com/hold'] }]) {
      const writes = new OwnWrites()
      const metadata = { ...object(10).metadata, deletionTimestamp: '2030-01-01T00:00:00Z', ...more }
      const terminating = { ...object(10), metadata }
      writes.wrote('a', terminating, at(5))
      assert.equal(writes.resolve('a', object(9), at(9)), terminating)
    }
  })

  it('do not hide another object of the same name', () => {
    const writes = new OwnWrites()
    writes.deleted('a', object(10).metadata, at(10))
    const other = object(12, 'u2')
    assert.equal(writes.resolve('a', other, at(12)), other)
  })

  it('are ignored when the server has another history', () => {
    const writes = new OwnWrites()
    writes.wrote('a', object(1000), at(900))
    const present = object(3)
    assert.equal(writes.resolve('a', present, at(3, 1)), present)
  })

  it('do not pile up without reads', () => {
    const writes = new OwnWrites()
    for (let i = 1; i <= 10_000; i++) {
      writes.wrote(`p${i}`, object(i), at(i))
      writes.prune(() => undefined, at(i - 10))
    }
    assert.ok(writes.size < 600, `${writes.size} entries`)
  })
})
