import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import {
  createBucketLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
} from './index.ts'

describe('rate limiters', () => {
  it('the bucket allows a burst and then limits the rate', async () => {
    const world = new VirtualWorld()
    const limiter = createBucketLimiter<string>({ clock: world.clock, rate: 10, burst: 3 })
    const delays = () => Array.from({ length: 5 }, () => Math.round(limiter.when('a')))
    assert.deepEqual(delays(), [0, 0, 0, 100, 200])
    await world.advance(60_000)
    assert.deepEqual(delays(), [0, 0, 0, 100, 200], 'it never holds more than its burst')
  })

  it('fast and slow: a few quick retries per item', () => {
    const limiter = createFastSlowLimiter<string>({ fast: 5, slow: 1000, fastTries: 2 })
    assert.deepEqual(
      [limiter.when('a'), limiter.when('a'), limiter.when('a'), limiter.when('b')],
      [5, 5, 1000, 5],
    )
    limiter.forget('a')
    assert.equal(limiter.when('a'), 5)
  })

  it('max-of takes the longest delay and counts in all', () => {
    const exponential = createExponentialLimiter<string>({ base: 1 })
    const limiter = createMaxOfLimiter(
      exponential,
      createFastSlowLimiter<string>({ fast: 3, slow: 3, fastTries: 1 }),
    )
    assert.deepEqual(
      [1, 2, 3, 4].map(() => limiter.when('a')),
      [3, 3, 4, 8],
    )
    assert.equal(limiter.retries('a'), 4)
    limiter.forget('a')
    assert.equal(limiter.retries('a'), 0)
  })
})
