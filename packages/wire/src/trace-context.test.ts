import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { traceContextOf } from './trace-context.ts'

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

describe('the trace context of a request', () => {
  it('is that of its headers', () => {
    assert.equal(traceContextOf({}), undefined)
    assert.deepEqual(traceContextOf({ traceparent }), { traceparent })
    assert.deepEqual(traceContextOf({ traceparent, tracestate: 'v=1' }), { traceparent, tracestate: 'v=1' })
    const later = `01${traceparent.slice(2)}-more`
    assert.deepEqual(traceContextOf({ traceparent: later }), { traceparent: later })
  })

  it('has nothing that is long or not well-formed', () => {
    const huge = 'x'.repeat(1_000_000)
    for (const bad of [
      '',
      'garbage',
      huge,
      `${traceparent}-${huge}`,
      traceparent.toUpperCase(),
      `${traceparent}\n`,
    ])
      assert.equal(traceContextOf({ traceparent: bad, tracestate: 'v=1' }), undefined)
    assert.deepEqual(traceContextOf({ traceparent, tracestate: huge }), { traceparent })
  })
})
