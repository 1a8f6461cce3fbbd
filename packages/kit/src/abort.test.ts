import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { aborted, createAbortError, isAbort, untilAborted } from './abort.ts'

describe('isAbort', () => {
  it('knows abort errors by name, and the reason of a signal whatever it is', () => {
    assert.equal(isAbort(createAbortError()), true)
    assert.equal(isAbort(new DOMException('from elsewhere', 'AbortError')), true)
    assert.equal(isAbort(new Error('boom')), false)
    assert.equal(isAbort(undefined), false)
    const reason = { why: 'shutdown' }
    assert.equal(isAbort(reason, AbortSignal.abort(reason)), true)
    assert.equal(isAbort({ ...reason }, AbortSignal.abort(reason)), false)
  })

  it('does not take the reason of a signal that has not aborted for one', () => {
    assert.equal(isAbort(undefined, new AbortController().signal), false)
  })
})

describe('waiting for an abort', () => {
  it('resolves at once when it has happened and later when it happens', async () => {
    await aborted(AbortSignal.abort(new Error('never thrown')))
    const controller = new AbortController()
    const waiting = aborted(controller.signal)
    controller.abort(new Error('never thrown'))
    await waiting
  })
})

describe('a promise until aborted', () => {
  it('settles as the promise does, and leaves no listener', async () => {
    const { signal } = new AbortController()
    assert.equal(await untilAborted(Promise.resolve(1), signal), 1)
    await assert.rejects(untilAborted(Promise.reject(new Error('own')), signal), /own/)
    await undefined
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('rejects with the reason as soon as the signal aborts', async () => {
    const controller = new AbortController()
    const waiting = untilAborted(new Promise(() => {}), controller.signal)
    controller.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
  })

  it('hides a later failure of the promise, which has no other reader', async () => {
    const failed = Promise.reject(new Error('unread'))
    await assert.rejects(untilAborted(failed, AbortSignal.abort(new Error('enough'))), /enough/)
    const controller = new AbortController()
    const { promise, reject } = Promise.withResolvers<void>()
    const waiting = untilAborted(promise, controller.signal)
    controller.abort(new Error('enough'))
    reject(new Error('unread'))
    await assert.rejects(waiting, /enough/)
  })
})
