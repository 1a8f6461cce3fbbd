import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap } from '@coxswain/api/core/v1'
import { type Span, type Tracer, VirtualWorld } from '@coxswain/kit'
import { collectTraces } from '@coxswain/testing/test-support/traces'
import { failure, json, startScripted } from './test-support/scripted-server.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }
const key = { namespace: 'default', name: 'a' }

describe('spans of calls', () => {
  it('belong to the given span, and the server receives their traceparent', async () => {
    const traces = collectTraces()
    const world = new VirtualWorld()
    await using server = startScripted([json(configMap)], {}, { ...world, tracer: traces.tracer })
    const span = traces.tracer.startSpan('parent')
    await world.run(server.client.get(ConfigMap, key, { span }))
    span.end()
    const [call, parent] = traces.spans()
    assert.equal(call?.name, 'GET configmaps')
    assert.equal(call?.parentSpanContext?.spanId, parent?.spanContext().spanId)
    assert.deepEqual(call?.attributes, {
      'http.request.method': 'GET',
      'url.path': '/api/v1/namespaces/default/configmaps/a',
      'http.response.status_code': 200,
    })
    const { traceId, spanId } = call.spanContext()
    assert.equal(server.seen[0]?.headers.traceparent, `00-${traceId}-${spanId}-01`)
  })

  it('are not made below a span that is not sampled, whose traceparent the server receives', async () => {
    const { tracer } = collectTraces()
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`
    const asked: string[] = []
    const counting: Tracer = {
      now: tracer.now,
      startSpan: (name, options) => {
        asked.push(name)
        return tracer.startSpan(name, options)
      },
    }
    const events: string[] = []
    const unsampled: Span = {
      isRecording: false,
      context: { traceparent },
      setAttributes: () => events.push('attributes'),
      addEvent: () => {},
      fail: () => events.push('fail'),
      run: work => work(),
      end: () => events.push('end'),
    }
    const world = new VirtualWorld()
    await using server = startScripted([json(configMap)], {}, { ...world, tracer: counting })
    await world.run(server.client.get(ConfigMap, key, { span: unsampled }))
    assert.equal(server.seen[0]?.headers.traceparent, traceparent)
    assert.deepEqual([asked, events], [[], []], 'the span belongs to the caller')
  })

  it('are one for a call that is sent again, with an event for each retry', async () => {
    const world = new VirtualWorld()
    const traces = collectTraces(world.clock)
    const busy = { ...failure(429, 'TooManyRequests'), headers: { 'retry-after': '1' } }
    await using server = startScripted([busy, json(configMap)], {}, { ...world, tracer: traces.tracer })
    await world.run(server.client.get(ConfigMap, key))
    const [call, ...others] = traces.spans()
    assert.equal(others.length, 0)
    assert.deepEqual(
      call?.events.map(({ name, attributes }) => [name, attributes?.['http.response.status_code']]),
      [['retry', 429]],
    )
    assert.equal(call?.duration[0], 1)
  })

  it('say what was refused, and end when the call is aborted', async () => {
    const world = new VirtualWorld()
    const traces = collectTraces(world.clock)
    const busy = { ...failure(503, 'ServiceUnavailable'), headers: { 'retry-after': '60' } }
    await using server = startScripted(
      [failure(403, 'Forbidden'), busy],
      {},
      { ...world, tracer: traces.tracer },
    )
    await assert.rejects(world.run(server.client.get(ConfigMap, key)))
    await assert.rejects(world.run(server.client.get(ConfigMap, key, { timeout: 1000 })))
    const [refused, aborted] = traces.spans()
    assert.equal(refused?.attributes['error.type'], '403')
    assert.equal(refused?.status.code, 2)
    assert.match(aborted?.status.message ?? '', /took longer than 1000 ms/)
  })

  it('send no header without a tracer', async () => {
    await using server = startScripted([json(configMap)])
    await server.client.get(ConfigMap, key)
    assert.equal(server.seen[0]?.headers.traceparent, undefined)
  })
})
