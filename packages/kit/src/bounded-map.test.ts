import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

describe('a bounded map', () => {
  it('keeps what was used recently, and not everything', () => {
    const map = new BoundedMap<number, string>(10)
    map.set(0, 'used')
    for (let i = 1; i < 100; i++) {
      map.set(i, 'x')
      assert.equal(map.get(0), 'used')
    }
    assert.equal(map.get(1), undefined)
    assert.equal(map.get(99), 'x')
    map.delete(0)
    assert.equal(map.get(0), undefined)
  })
})
