import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { flipBits } from './disk/bit-flip.ts'

describe('a flipped bit', () => {
  it('gives an error or the right data, 150 times', { timeout: 120_000 }, async t => {
    const result = await flipBits({ seed: 1, flips: 150 })
    t.diagnostic(JSON.stringify({ ...result, silent: result.silent.length }))
    assert.deepEqual(result.silent, [])
    assert.ok(result.refused + result.failedReads > 10, 'some flips did harm')
  })
})
