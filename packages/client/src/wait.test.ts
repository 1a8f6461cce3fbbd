import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VirtualWorld } from '@coxswain/kit'
import { isClientError } from './errors.ts'
import { wait } from './wait.ts'

describe('wait.poll', () => {
  it('resolves with the first truthy value, and waits longer and longer', async () => {
    const world = new VirtualWorld()
    const times: number[] = []
    const found = await world.run(
      wait.poll(
        world,
        async () => {
          times.push(world.clock.monotonic())
          return times.length === 5 && 'found'
        },
        { interval: 100, factor: 2, cap: 300 },
      ),
    )
    assert.equal(found, 'found')
    assert.deepEqual(times, [0, 100, 300, 600, 900])
  })

  it('begins after one interval when it is not immediate', async () => {
    const world = new VirtualWorld()
    await world.run(wait.poll(world, () => true, { interval: 70, immediate: false }))
    assert.equal(world.clock.monotonic(), 70)
  })

  it('gives up at its timeout, not later', async () => {
    const world = new VirtualWorld()
    let calls = 0
    const waiting = wait.poll(world, () => ++calls < 0, { interval: 400, timeout: 1_000 })
    await assert.rejects(world.run(waiting), error => isClientError(error, 'WaitTimeout'))
    assert.equal(calls, 3)
    assert.equal(world.clock.monotonic(), 1_000)
  })

  it('ends with its signal, and with what the condition throws', async () => {
    const world = new VirtualWorld()
    const controller = new AbortController()
    const waiting = wait.poll(world, () => false, { signal: controller.signal })
    world.clock.after(1_500, () => controller.abort(new Error('enough')))
    await assert.rejects(world.run(waiting), /enough/)
    const broken = wait.poll(world, () => {
      throw new Error('broken')
    })
    await assert.rejects(world.run(broken), /broken/)
    assert.equal(world.nextTimer, undefined)
  })
})

describe('wait.until', () => {
  it('calls until its signal aborts, and then resolves', async () => {
    const world = new VirtualWorld()
    const controller = new AbortController()
    let calls = 0
    const running = wait.until(world, () => void calls++, { interval: 100, signal: controller.signal })
    world.clock.after(250, () => controller.abort())
    await world.run(running)
    assert.equal(calls, 3)
    assert.equal(world.nextTimer, undefined)
  })
})
