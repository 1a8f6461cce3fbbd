import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CacheEvent, ResourceCache } from './resource-cache.ts'
import { encodeStored, StoredObject } from './stored-object.ts'

const prefix = '/core/configmaps/'

function stored(namespace: string, name: string, revision: number): StoredObject {
  const bytes = encodeStored({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { namespace, name, labels: { r: `${revision}` } },
  })
  return new StoredObject(`${prefix}${namespace}/${name}`, namespace, name, revision, bytes)
}

const names = (objects: readonly StoredObject[]) =>
  objects.map(({ namespace, name }) => `${namespace}/${name}`)

describe('ResourceCache', () => {
  it('lists in key order, whatever the order of writes', () => {
    const cache = new ResourceCache(prefix, 0)
    for (const [i, [namespace, name]] of [
      ['b', 'x'],
      ['a', 'y'],
      ['a', 'x'],
      ['ab', 'x'],
    ].entries()) {
      cache.put(stored(namespace!, name!, i + 1))
    }
    assert.deepEqual(names(cache.list()), ['a/x', 'a/y', 'ab/x', 'b/x'])
    assert.deepEqual(names(cache.list(`${prefix}a/`)), ['a/x', 'a/y'])
    assert.deepEqual(names(cache.list(prefix, `${prefix}a/y`)), ['a/y', 'ab/x', 'b/x'])
  })

  it('notifies watchers of each change once, with the revision of a deletion', () => {
    const cache = new ResourceCache(prefix, 0)
    const seen: string[] = []
    cache.addWatcher({
      namespace: 'a',
      onEvent: ({ type, object, revision }: CacheEvent) =>
        seen.push(`${type} ${object.name}@${object.revision} ${revision}`),
      onEnd: () => seen.push('end'),
    })
    cache.put(stored('a', 'x', 1))
    cache.put(stored('b', 'x', 2))
    cache.put(stored('a', 'x', 3))
    cache.delete(`${prefix}a/x`, 4)
    cache.delete(`${prefix}a/x`, 5)
    cache.endWatches()
    cache.put(stored('a', 'x', 6))
    assert.deepEqual(seen, ['ADDED x@1 1', 'MODIFIED x@3 3', 'DELETED x@4 4', 'end'])
  })

  it('keeps a window of history and knows where it begins', () => {
    const cache = new ResourceCache(prefix, 0)
    for (let revision = 1; revision <= 25_000; revision++) cache.put(stored('a', 'x', revision))
    assert.equal(cache.covers(1), false)
    assert.equal(cache.covers(cache.floor), false)
    assert.equal(cache.covers(cache.floor + 1), true)
    const since = cache.since(24_990)
    assert.deepEqual([since.length, since[0]!.revision, since.at(-1)!.revision], [11, 24_990, 25_000])
    assert.equal(cache.since(cache.floor + 1)[0]!.revision, cache.floor + 1)
  })
})

describe('the memory of large objects', () => {
  const large = (revision: number): StoredObject => {
    const bytes = new Uint8Array(1024 * 1024)
    bytes.fill(0x20)
    bytes.set(new TextEncoder().encode('{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}'))
    return new StoredObject(`${prefix}a/x`, 'a', 'x', revision, bytes)
  }

  it('is bounded in history: large changes are dropped sooner', () => {
    const cache = new ResourceCache(prefix, 0)
    for (let revision = 1; revision <= 1_000; revision++) cache.put(large(revision))
    const kept = cache.since(cache.floor + 1).length
    assert.ok(kept >= 128 && kept < 256, `${kept} changes`)
    assert.equal(cache.covers(1_000), true)
  })

  it('is bounded in the cache of parsed objects', () => {
    const objects = Array.from({ length: 40 }, (_, index) => large(index + 1))
    const first = objects[0]!.peek()
    assert.equal(objects[0]!.peek(), first)
    for (const object of objects) object.peek()
    assert.notEqual(objects[0]!.peek(), first)
    assert.equal(objects[39]!.peek(), objects[39]!.peek())
  })
})

describe('ResourceCache.setReader', () => {
  const reader = (object: StoredObject) =>
    object.name === 'x' ? object.as({ ...object.parse(), data: { read: 'yes' } }) : object

  it('replaces existing and later objects with what it reads, without an event', () => {
    const cache = new ResourceCache(prefix, 0)
    const seen: unknown[] = []
    cache.put(stored('a', 'x', 1))
    cache.put(stored('a', 'y', 2))
    cache.addWatcher({
      namespace: '',
      onEvent: ({ object }) => seen.push(object.parse().data),
      onEnd: () => {},
    })
    cache.setReader(reader)
    assert.deepEqual(seen, [])
    assert.deepEqual(
      cache.list().map(object => object.parse().data),
      [{ read: 'yes' }, undefined],
    )
    assert.equal(cache.get(`${prefix}a/x`), cache.list()[0])
    assert.equal(cache.get(`${prefix}a/x`)?.revision, 1)
    cache.put(stored('b', 'x', 3))
    cache.setReader(undefined)
    cache.put(stored('c', 'x', 4))
    assert.deepEqual(seen, [{ read: 'yes' }, undefined])
  })

  it('marks the objects: the store has other bytes, so the same content is a change', () => {
    const read = reader(stored('a', 'x', 1))
    assert.equal(read.hasBytes(encodeStored(read.parse())), false)
    assert.equal(read.at(2).reread, true)
  })
})

describe('StoredObject', () => {
  it('splices the resourceVersion into bytes that do not have it', () => {
    const object = stored('a', 'x', 7)
    const text = new TextDecoder().decode(object.served())
    assert.equal(JSON.parse(text).metadata.resourceVersion, '7')
    assert.deepEqual(JSON.parse(text), object.parse())
    assert.equal(JSON.parse(new TextDecoder().decode(object.at(9).served())).metadata.resourceVersion, '9')
  })

  it('is the same object before and after it was served', () => {
    const object = stored('a', 'x', 7)
    const fresh = stored('a', 'x', 7)
    assert.equal(object.served(), object.served())
    assert.deepEqual(object.parse(), fresh.parse())
    assert.equal(object.size, fresh.size)
    assert.deepEqual(object.at(9).served(), fresh.at(9).served())
    for (const write of ['write', 'writeUntyped'] as const) {
      const [one, other] = [new Uint8Array(object.servedRoom), new Uint8Array(object.servedRoom)]
      assert.equal(object[write](one, 0), fresh[write](other, 0))
      assert.deepEqual(one, other)
    }
  })

  it('detects a write that would change nothing, also after it was served', () => {
    const object = stored('a', 'x', 7)
    object.served()
    assert.equal(object.hasBytes(encodeStored(object.parse())), true)
    assert.equal(object.hasBytes(encodeStored({ ...object.parse(), kind: 'ConfigMop' })), false)
    assert.equal(
      object.hasBytes(
        encodeStored({ ...object.parse(), metadata: { namespace: 'a', name: 'y', labels: { r: '7' } } }),
      ),
      false,
    )
  })

  it('detects a write that would change nothing', () => {
    const object = stored('a', 'x', 7)
    assert.equal(object.hasBytes(encodeStored(object.parse())), true)
    assert.equal(object.hasBytes(encodeStored({ ...object.parse(), data: {} })), false)
  })
})
