import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTurnTakingScheduler } from './turn-taking-scheduler.ts'

const work = (milliseconds: number) => {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

describe('a turn-taking scheduler', () => {
  it('runs hand-offs in order', async () => {
    const scheduler = createTurnTakingScheduler()
    const seen: number[] = []
    const steps = Array.from({ length: 100 }, (_, index) =>
      scheduler.step('step').then(() => {
        seen.push(index)
      }),
    )
    await Promise.all(steps)
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    )
    assert.equal(seen.length, 100)
  })

  it('lets I/O proceed between continuous hand-offs', async () => {
    const scheduler = createTurnTakingScheduler()
    let isOver = false
    let steps = 0
    const loops = Array.from({ length: 20 }, async () => {
      while (!isOver) {
        await scheduler.step('step')
        work(2)
        steps++
      }
    })
    // A timer needs the event loop to come round.
    const between: number[] = []
    for (let round = 0; round < 10; round++) {
      const before = steps
      await sleep(1)
      between.push(steps - before)
    }
    isOver = true
    await Promise.all(loops)
    const median = between.toSorted((a, b) => a - b)[5]!
    assert.ok(median < 10, `${median} steps, where twenty were always waiting`)
  })

  it('keeps the order of a lane, whether its hand-offs wait or not', async () => {
    const lane = createTurnTakingScheduler().lane('lane')
    const seen: string[] = []
    lane.post(() => seen.push('first'))
    assert.deepEqual(seen, ['first'])
    const step = lane.step().then(() => seen.push('second'))
    lane.post(() => seen.push('third'))
    assert.deepEqual(seen, ['first'])
    await step
    await lane.step()
    assert.deepEqual(seen, ['first', 'second', 'third'])
  })
})
