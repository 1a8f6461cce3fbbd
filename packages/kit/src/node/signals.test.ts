import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isAbort } from '../abort.ts'
import { abortOnSignals } from './index.ts'

describe('signals of the process', () => {
  it('abort once, and are released', () => {
    const before = process.listenerCount('SIGTERM')
    {
      using stop = abortOnSignals()
      assert.equal(stop.signal.aborted, false)
      process.emit('SIGTERM', 'SIGTERM')
      assert.equal(stop.signal.aborted, true)
      assert.ok(isAbort(stop.signal.reason))
    }
    assert.equal(process.listenerCount('SIGTERM'), before)
  })
})
