import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCIDR } from '@coxswain/apimachinery/validation'
import { parseRanges, RangeSet } from './range-set.ts'

const cut = (range: string, prefix: number) => new RangeSet(parseCIDR(range)!, prefix)
const taken = (...ranges: string[]) => parseRanges(ranges)

describe('a range split into blocks', () => {
  it('allocates them in turn, and released ones after wrapping around', () => {
    const set = cut('10.0.0.0/30', 32)
    assert.equal(set.allocate([]), '10.0.0.0/32')
    assert.equal(set.allocate([]), '10.0.0.1/32')
    assert.equal(set.allocate(taken('10.0.0.2/32')), '10.0.0.3/32')
    assert.equal(set.allocate(taken('10.0.0.1/32', '10.0.0.2/32', '10.0.0.3/32')), '10.0.0.0/32')
  })

  it('is exhausted when all are allocated', () => {
    const set = cut('10.0.0.0/31', 32)
    assert.equal(set.allocate(taken('10.0.0.0/32', '10.0.0.1/32')), undefined)
    assert.equal(set.allocate(taken('10.0.0.0/8')), undefined)
  })

  it('skips blocks that overlap with a smaller or a larger range', () => {
    assert.equal(cut('10.0.0.0/16', 24).allocate(taken('10.0.0.128/25', '10.0.1.0/24')), '10.0.2.0/24')
    assert.equal(cut('10.0.0.0/16', 24).allocate(taken('10.0.0.0/22')), '10.0.4.0/24')
    assert.equal(cut('10.0.0.0/16', 24).allocate(taken('192.168.0.0/16', 'fd00::/8')), '10.0.0.0/24')
  })

  it('supports both families', () => {
    const set = cut('fd00:10:244::/48', 64)
    assert.equal(set.count, 65_536)
    assert.equal(set.allocate([]), 'fd00:10:244::/64')
    assert.equal(set.allocate([]), 'fd00:10:244:1::/64')
  })

  it('is rejected if blocks would be larger than it, or too many', () => {
    assert.throws(() => cut('10.0.0.0/24', 16), /cannot split 10\.0\.0\.0\/24 into blocks/)
    assert.throws(() => cut('10.0.0.0/24', 33), /cannot split/)
    assert.throws(() => cut('fd00::/8', 64), /too many$/)
  })
})
