import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { trace } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { VirtualWorld } from '../virtual-world.ts'
import { createOpenTelemetryTracer, hasTracerProvider } from './opentelemetry-tracer.ts'

const remote = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'vendor=1' }

function setUp({ sampled = true } = {}) {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    ...(!sampled && { sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }) }),
  })
  const world = new VirtualWorld({ seed: 1 })
  return { world, exporter, provider, tracer: createOpenTelemetryTracer({ clock: world.clock, provider }) }
}

describe('a tracer by OpenTelemetry', () => {
  it('records names, attributes, events, errors and times of the given clock', async () => {
    const { world, tracer, exporter } = setUp()
    const span = tracer.startSpan('work', { kind: 'client', attributes: { a: 1 } })
    await world.advance(1500)
    span.addEvent('half', { b: 'x' })
    span.fail(new Error('no'))
    span.end()
    const [found] = exporter.getFinishedSpans()
    assert.deepEqual([found?.name, found?.attributes, found?.status.message], ['work', { a: 1 }, 'no'])
    assert.deepEqual(found?.duration, [1, 500_000_000])
    assert.deepEqual(
      found?.events.map(({ name }) => name),
      ['half', 'exception'],
    )
  })

  it('continues the trace of a sender, and passes it on with its state', () => {
    const { tracer, exporter } = setUp()
    const outer = tracer.startSpan('outer', { parent: remote })
    const inner = tracer.startSpan('inner', { parent: outer })
    assert.match(inner.context?.traceparent ?? '', new RegExp(`^00-${'a'.repeat(32)}-[0-9a-f]{16}-01$`))
    assert.equal(inner.context?.tracestate, 'vendor=1')
    inner.end()
    outer.end()
    const [innerSpan, outerSpan] = exporter.getFinishedSpans()
    assert.equal(innerSpan?.parentSpanContext?.spanId, outerSpan?.spanContext().spanId)
    assert.equal(outerSpan?.parentSpanContext?.spanId, 'b'.repeat(16))
  })

  it('links a span of another trace instead of continuing it', () => {
    const { tracer, exporter } = setUp()
    tracer.startSpan('own', { parent: 'none', link: remote }).end()
    const [span] = exporter.getFinishedSpans()
    assert.equal(span?.parentSpanContext, undefined)
    assert.equal(span?.links[0]?.context.traceId, 'a'.repeat(32))
  })

  it('ignores a traceparent that is not well-formed', () => {
    const { tracer, exporter } = setUp()
    for (const traceparent of [
      '',
      'x',
      `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
      `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01-more`,
      `00-${'A'.repeat(32)}-${'b'.repeat(16)}-01`,
    ])
      tracer.startSpan('own', { parent: { traceparent } }).end()
    const spans = exporter.getFinishedSpans()
    assert.equal(spans.length, 6)
    assert.ok(spans.every(({ parentSpanContext }) => parentSpanContext === undefined))
  })

  it('says in the traceparent that a trace is not sampled', () => {
    const { tracer, exporter } = setUp({ sampled: false })
    const span = tracer.startSpan('own')
    assert.equal(span.isRecording, false)
    assert.match(span.context?.traceparent ?? '', /-00$/)
    assert.equal(tracer.startSpan('below', { parent: span }), span, 'it stands for the spans below it')
    span.end()
    assert.equal(exporter.getFinishedSpans().length, 0)
  })

  it('has no trace context, and says so, when the process registered no provider', () => {
    const tracer = createOpenTelemetryTracer({ clock: new VirtualWorld({ seed: 1 }).clock })
    assert.equal(hasTracerProvider(), false)
    assert.equal(tracer.startSpan('nothing').context, undefined)
    trace.setGlobalTracerProvider(setUp().provider)
    assert.equal(hasTracerProvider(), true)
    trace.disable()
  })
})
