import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { EventPace } from './event-pace.ts'

/** Some that send one event after another, as fast as they may. */
function createStage(senders = 8) {
  const world = new VirtualWorld({ seed: 1 })
  const pace = new EventPace(world.clock)
  const waiting: number[] = []
  const sent: number[] = []
  let told = 0
  let ended = 0
  const send = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await pace.turn()
      sent.push(next)
      await world.scheduler.step('send')
    }
    ended++
  }
  const tell = (count: number) => {
    for (let index = 0; index < count; index++) {
      waiting.push(told++)
      pace.arrive()
    }
  }
  const start = () => {
    for (let index = 0; index < senders; index++) void send()
  }
  return { world, pace, sent, tell, start, ended: () => ended }
}

describe('the pace of events', () => {
  it('lets few go at once', async () => {
    const { world, sent, tell, start, ended } = createStage()
    tell(100)
    start()
    await world.settle()
    assert.equal(sent.length, 100)
    assert.equal(ended(), 8)
    assert.equal(world.nextTimer, undefined, 'nothing ticks')
  })

  it('holds a flood back while more come, and lets what waits go faster when none do', async () => {
    const { world, sent, tell, start } = createStage()
    tell(2_000)
    start()
    for (let tick = 0; tick < 20; tick++) {
      tell(10)
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

  it('holds nobody back at the end', async () => {
    const { world, pace, sent, tell, start, ended } = createStage()
    tell(500)
    start()
    await world.settle()
    pace.end()
    await world.settle()
    assert.equal(sent.length, 500)
    assert.equal(ended(), 8)
  })
})
