import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRealEnv } from './env.ts'
import { directScheduler } from './scheduler.ts'

describe('the direct scheduler', () => {
  it('hands over at once: posts synchronously, steps as resolved promises', async () => {
    const lane = directScheduler.lane('stream')
    const seen: string[] = []
    lane.post(() => seen.push('posted'))
    assert.deepEqual(seen, ['posted'])
    await lane.step()
    await directScheduler.step('lone')
  })

  it('keeps the order of a lane', async () => {
    const lane = directScheduler.lane('stream')
    const seen: number[] = []
    const steps = [1, 2, 3].map(i => lane.step().then(() => seen.push(i)))
    await Promise.all(steps)
    assert.deepEqual(seen, [1, 2, 3])
  })

  it('is what the real world uses', () => {
    const env = createRealEnv()
    assert.equal(env.scheduler, directScheduler)
    assert.ok(env.clock.now() > Date.UTC(2020))
    env.log.info('silent by default')
  })
})
