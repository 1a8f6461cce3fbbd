import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { Expectations, slowStart } from './index.ts'

describe('expectations', () => {
  it('are satisfied when everything was observed', () => {
    const expectations = new Expectations(new VirtualWorld().clock)
    assert.ok(expectations.satisfied('a'))
    expectations.expectCreations('a', 2)
    expectations.expectDeletions('a', ['u1'])
    expectations.creationObserved('a')
    expectations.deletionObserved('a', 'u1')
    expectations.deletionObserved('a', 'u2')
    assert.ok(!expectations.satisfied('a'))
    assert.ok(expectations.satisfied('b'))
    expectations.creationObserved('a')
    assert.ok(expectations.satisfied('a'))
  })

  it('expire after five minutes, and are deleted with the object', async () => {
    const world = new VirtualWorld()
    const expectations = new Expectations(world.clock)
    expectations.expectCreations('a', 1)
    expectations.expectCreations('b', 1)
    expectations.forget('b')
    assert.ok(expectations.satisfied('b'))
    await world.advance(299_000)
    assert.ok(!expectations.satisfied('a'))
    await world.advance(2_000)
    assert.ok(expectations.satisfied('a'))
  })
})

describe('slow start', () => {
  it('doubles its batches while all calls succeed', async () => {
    const batches: number[] = []
    let inFlight = 0
    const { succeeded } = await slowStart(10, async () => {
      inFlight++
      await Promise.resolve()
      if (inFlight > 0) batches.push(inFlight)
      inFlight = 0
    })
    assert.equal(succeeded, 10)
    assert.deepEqual(batches, [1, 2, 4, 3])
  })

  it('stops after the batch in which something failed', async () => {
    const tried: number[] = []
    const failure = new Error('quota')
    const result = await slowStart(100, async index => {
      tried.push(index)
      if (index === 1) throw failure
    })
    assert.deepEqual(result, { succeeded: 2, error: failure })
    assert.deepEqual(tried, [0, 1, 2])
  })
})
