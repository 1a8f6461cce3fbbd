import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxOf, minOf } from './extremes.ts'

describe('maxOf and minOf', () => {
  it('equal Math.max and Math.min, for lists of any length', () => {
    for (const numbers of [[], [3], [2, -1, 7], [1, Number.NaN]]) {
      assert.equal(maxOf(numbers), Math.max(...numbers))
      assert.equal(minOf(numbers), Math.min(...numbers))
    }
    const many = Array.from({ length: 500_000 }, (_, index) => index)
    assert.equal(maxOf(many), 499_999)
    assert.equal(minOf(many), 0)
  })
})
