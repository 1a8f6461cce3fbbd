import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { createRealClock } from './clock.ts'

describe('the real clock', () => {
  const clock = createRealClock()

  it('shows the time of the machine', () => {
    assert.ok(Math.abs(clock.now() - Date.now()) < 1_000)
  })

  it('never goes back', () => {
    let last = clock.monotonic()
    for (let i = 0; i < 1_000; i++) {
      const now = clock.monotonic()
      assert.ok(now >= last)
      last = now
    }
  })

  it('sleeps for the requested time, also for fractions of a millisecond', async () => {
    for (const ms of [1.9, 5, 10.5]) {
      const started = clock.monotonic()
      await clock.sleep(ms)
      const slept = clock.monotonic() - started
      assert.ok(slept > ms - 1.1, `slept ${slept} of ${ms} ms`) // the platform's timers are up to a tick early
    }
  })

  it('requests whole milliseconds from the platform, rounded up: it would truncate fractions', t => {
    const asked: (number | undefined)[] = []
    t.mock.method(globalThis, 'setTimeout', (_: () => void, ms?: number) => asked.push(ms))
    clock.after(10.5, () => {})
    assert.deepEqual(asked, [11])
  })

  it('calls back in the order of the delays, never synchronously', async () => {
    const seen: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    clock.after(20, () => {
      seen.push('late')
      resolve()
    })
    clock.after(-1, () => seen.push('at once'))
    seen.push('set')
    await promise
    assert.deepEqual(seen, ['set', 'at once', 'late'])
  })

  it('cancels a call', async () => {
    let called = false
    const timer = clock.after(1, () => {
      called = true
    })
    timer.cancel()
    await clock.sleep(10)
    assert.equal(called, false)
    timer.cancel()
  })

  it('waits longer than the platform can in one piece, without firing early', async () => {
    let called = false
    const timers = [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY].map(ms =>
      clock.after(ms, () => {
        called = true
      }),
    )
    await clock.sleep(10)
    assert.equal(called, false)
    for (const timer of timers) timer.cancel()
  })

  it('rejects NaN as a delay', async () => {
    await assert.rejects(clock.sleep(Date.parse('no date')), RangeError)
    assert.throws(() => clock.after(Number.NaN, () => {}), RangeError)
  })

  it('ends a sleep early with the reason of its signal, and leaves no listener', async () => {
    const controller = new AbortController()
    const sleep = clock.sleep(60_000, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(sleep, /enough/)
    await assert.rejects(clock.sleep(0, { signal: controller.signal }), /enough/)
    const { signal } = new AbortController()
    await clock.sleep(1, { signal })
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})
