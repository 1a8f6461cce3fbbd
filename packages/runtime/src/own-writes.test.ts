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
    assert.equal(writes.resolve('a', undefined, at(9)), written, 'created, and not there yet')
    assert.equal(writes.resolve('a', object(9), at(9)), written, 'changed, and not there yet')
    const newer = object(11)
    assert.equal(writes.resolve('a', newer, at(11)), newer)
    assert.equal(writes.size, 0)
  })

  it('are gone when the cache is past them and has nothing', () => {
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

  it('hide what was deleted, also when the cache has yet to learn that it was there', () => {
    const writes = new OwnWrites()
    writes.wrote('a', object(10), at(5))
    writes.deleted('a', object(10).metadata, at(5))
    assert.equal(writes.resolve('a', undefined, at(7)), undefined)
    assert.equal(writes.resolve('a', object(10), at(10)), undefined, 'the creation arrives')
    assert.equal(writes.size, 1)
    assert.equal(writes.resolve('a', undefined, at(11)), undefined, 'the deletion arrives')
    assert.equal(writes.size, 0)
  })

  it('hide what goes with its last finalizer: the answer carries the version of before', () => {
    const writes = new OwnWrites()
    const going = object(10)
    const metadata = {
      ...going.metadata,
      deletionTimestamp: '2030-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
    }
    writes.wrote('a', { ...going, metadata }, at(5))
    assert.equal(writes.resolve('a', object(9), at(9)), undefined)
    assert.equal(writes.resolve('a', object(10), at(10)), undefined, 'what was there before arrives')
    assert.equal(writes.resolve('a', undefined, at(11)), undefined, 'the deletion arrives')
    assert.equal(writes.size, 0)
  })

  it('show what has time left to go, or a finalizer', () => {
    for (const more of [{ deletionGracePeriodSeconds: 30 }, { finalizers: ['example.com/hold'] }]) {
      const writes = new OwnWrites()
      const metadata = { ...object(10).metadata, deletionTimestamp: '2030-01-01T00:00:00Z', ...more }
      const going = { ...object(10), metadata }
      writes.wrote('a', going, at(5))
      assert.equal(writes.resolve('a', object(9), at(9)), going)
    }
  })

  it('do not hide another object of the same name', () => {
    const writes = new OwnWrites()
    writes.deleted('a', object(10).metadata, at(10))
    const other = object(12, 'u2')
    assert.equal(writes.resolve('a', other, at(12)), other)
  })

  it('count for nothing when the server has another history', () => {
    const writes = new OwnWrites()
    writes.wrote('a', object(1000), at(900))
    const present = object(3)
    assert.equal(writes.resolve('a', present, at(3, 1)), present)
  })

  it('do not pile up when nobody reads', () => {
    const writes = new OwnWrites()
    for (let i = 1; i <= 10_000; i++) {
      writes.wrote(`p${i}`, object(i), at(i))
      writes.prune(() => undefined, at(i - 10))
    }
    assert.ok(writes.size < 600, `${writes.size} entries`)
  })
})
