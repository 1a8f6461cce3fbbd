import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { EventPace } from './event-pace.ts'

/** Workers that send events as fast as allowed. */
function createStage(senders = 8) {
  const world = new VirtualWorld({ seed: 1 })
  const pace = new EventPace(world.clock)
  const waiting: number[] = []
  const sent: number[] = []
  let total = 0
  let ended = 0
  const send = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await pace.turn()
      sent.push(next)
      await world.scheduler.step('send')
    }
    ended++
  }
  const record = (count: number) => {
    for (let index = 0; index < count; index++) {
      waiting.push(total++)
      pace.arrive()
    }
  }
  const start = () => {
    for (let index = 0; index < senders; index++) void send()
  }
  return { world, pace, sent, record, start, ended: () => ended }
}

describe('the rate limit of events', () => {
  it('does not delay a few events', async () => {
    const { world, sent, record, start, ended } = createStage()
    record(100)
    start()
    await world.settle()
    assert.equal(sent.length, 100)
    assert.equal(ended(), 8)
    assert.equal(world.nextTimer, undefined, 'nothing ticks')
  })

  it('limits a flood while more arrive, and sends queued events faster when none do', async () => {
    const { world, sent, record, start } = createStage()
    record(2_000)
    start()
    for (let tick = 0; tick < 20; tick++) {
      record(10)
      await world.advance(100)
    }
    assert.ok(sent.length >= 290 && sent.length <= 310, `${sent.length} after two seconds`)
    await world.advance(2_000)
    assert.ok(sent.length >= 1_200 && sent.length <= 1_320, `${sent.length} after two more, quiet ones`)
    await world.advance(5_000)
    assert.deepEqual(
      sent,
      Array.from({ length: 2_200 }, (_, index) => index),
    )
    assert.equal(world.nextTimer, undefined, 'nothing ticks')
  })

  it('does not delay events at the end', async () => {
    const { world, pace, sent, record, start, ended } = createStage()
    record(500)
    start()
    await world.settle()
    pace.end()
    await world.settle()
    assert.equal(sent.length, 500)
    assert.equal(ended(), 8)
  })
})
