import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealClock, VirtualWorld } from '@coxswain/kit'
import { Slices, Turns } from './slices.ts'

describe('Slices', () => {
  it('end after ten milliseconds', async () => {
    const world = new VirtualWorld()
    const slices = new Slices(new Turns(world.clock))
    assert.equal(slices.isUsedUp, false)
    await world.advance(10)
    assert.equal(slices.isUsedUp, true)
    await world.run(slices.next())
    assert.equal(slices.isUsedUp, false)
  })

  it('of several workers never share a turn of the event loop', async () => {
    const turns = new Turns(createRealClock())
    const seen: number[] = []
    let inTurn = 0
    const work = async () => {
      const slices = new Slices(turns)
      for (let i = 0; i < 5; i++) {
        await slices.next()
        seen.push(++inTurn)
        setImmediate(() => {
          inTurn = 0
        })
      }
    }
    await Promise.all([work(), work(), work()])
    assert.deepEqual(new Set(seen), new Set([1]))
    assert.equal(seen.length, 15)
  })
})
