import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import type { EventRecorder, EventSubject } from '@coxswain/runtime'
import { PacedEvents } from './paced-events.ts'

const subject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } as EventSubject

function createStage() {
  const world = new VirtualWorld({ seed: 1 })
  const told: string[] = []
  const recorderOf = (component: string): EventRecorder => ({
    normal: (_subject, reason) => void told.push(`${component} ${reason}`),
    warning: (_subject, reason) => void told.push(`${component} ${reason}!`),
    from: source => recorderOf(source.component),
  })
  const paced = new PacedEvents(world.clock)
  return { world, told, paced, events: paced.recorderFor(recorderOf('nobody'), { component: 'kubelet' }) }
}

describe('paced events', () => {
  it('are told at once while there are few', () => {
    const { told, events, paced } = createStage()
    events.normal(subject, 'One', '')
    events.warning(subject, 'Two', '')
    assert.deepEqual(told, ['kubelet One', 'kubelet Two!'])
    paced[Symbol.dispose]()
  })

  it('are told bit by bit and in order in a flood, and at once again after it', async () => {
    const { world, told, events } = createStage()
    for (let index = 0; index < 300; index++) events.normal(subject, String(index), '')
    assert.equal(told.length, 100)
    await world.advance(1_000)
    assert.equal(told.length, 200)
    events.normal(subject, 'last', '')
    await world.advance(1_100)
    assert.equal(told.length, 301)
    assert.deepEqual(
      told.slice(0, 300),
      Array.from({ length: 300 }, (_, index) => `kubelet ${index}`),
    )
    await world.advance(5_000)
    events.normal(subject, 'again', '')
    assert.equal(told.at(-1), 'kubelet again')
    await world.settle()
  })

  it('end with the agent', async () => {
    const { world, told, events, paced } = createStage()
    for (let index = 0; index < 150; index++) events.normal(subject, 'Flood', '')
    paced[Symbol.dispose]()
    await world.advance(5_000)
    assert.equal(told.length, 100)
  })
})
