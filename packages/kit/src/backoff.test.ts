import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBackoff } from './backoff.ts'
import { VirtualWorld } from './virtual-world.ts'

const take = (backoff: { next(): number }, count: number) =>
  Array.from({ length: count }, () => backoff.next())

describe('a back-off', () => {
  it('doubles from the first delay up to the cap', () => {
    const backoff = createBackoff({ ...new VirtualWorld(), initial: 100, cap: 1_000 })
    assert.deepEqual(take(backoff, 6), [100, 200, 400, 800, 1_000, 1_000])
  })

  it('grows by another factor, and never past the cap even at first', () => {
    assert.deepEqual(
      take(createBackoff({ ...new VirtualWorld(), initial: 1, cap: 50, factor: 3 }), 5),
      [1, 3, 9, 27, 50],
    )
    assert.deepEqual(take(createBackoff({ ...new VirtualWorld(), initial: 70, cap: 50 }), 2), [50, 50])
  })

  it('starts over when reset', () => {
    const backoff = createBackoff({ ...new VirtualWorld(), initial: 100, cap: 1_000 })
    take(backoff, 3)
    backoff.reset()
    assert.equal(backoff.next(), 100)
  })

  it('starts over by itself after a quiet time, counted from the last call', async () => {
    const world = new VirtualWorld()
    const backoff = createBackoff({ ...world, initial: 100, cap: 10_000, resetAfter: 60_000 })
    take(backoff, 3)
    await world.advance(59_999)
    assert.equal(backoff.next(), 800)
    await world.advance(59_999)
    assert.equal(backoff.next(), 1_600)
    await world.advance(60_000)
    assert.equal(backoff.next(), 100)
  })

  it('stretches each delay by up to the jitter, never shortens it, and repeats for a seed', () => {
    const sample = (seed: number) =>
      take(createBackoff({ ...new VirtualWorld({ seed }), initial: 100, cap: 100, jitter: 0.5 }), 200)
    const delays = sample(1)
    assert.ok(delays.every(delay => delay >= 100 && delay < 150))
    assert.ok(Math.max(...delays) > 145 && Math.min(...delays) < 105, 'the whole range is used')
    assert.deepEqual(delays, sample(1))
    assert.notDeepEqual(delays, sample(2))
  })
})
