import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scaleIntOrPercent } from './int-or-percent.ts'
import { hashControllerRevision, hashPodTemplate } from './revision-hash.ts'

describe('the hash of a Pod template', () => {
  const spec = { containers: [{ name: 'a', image: 'b' }] }

  it('is the same whatever the order of keys, and another after a collision', () => {
    const hash = hashPodTemplate({ spec, metadata: { labels: { a: 'b' } } })
    assert.match(hash, /^[bcdfghjklmnpqrstvwxz2456789]{5,10}$/)
    assert.equal(hashPodTemplate({ metadata: { labels: { a: 'b' } }, spec }), hash)
    assert.notEqual(hashPodTemplate({ metadata: { labels: { a: 'b' } }, spec }, 1), hash)
  })

  it('is that of the data of a ControllerRevision, as Go writes it', () => {
    assert.notEqual(hashControllerRevision({ a: '<' }, 0), hashControllerRevision({ a: '\\u003c' }, 0))
    assert.notEqual(hashControllerRevision({ a: 1 }, 0), hashControllerRevision({ a: 1 }, 1))
  })
})

describe('a number or percentage', () => {
  it('is rounded as it is asked for, and 0 when it is neither', () => {
    assert.equal(scaleIntOrPercent(3, 10, 'up'), 3)
    assert.equal(scaleIntOrPercent('25%', 10, 'up'), 3)
    assert.equal(scaleIntOrPercent('25%', 10, 'down'), 2)
    assert.equal(scaleIntOrPercent('x', 10, 'up'), 0)
    assert.equal(scaleIntOrPercent(undefined, 10, 'up'), 0)
  })
})
