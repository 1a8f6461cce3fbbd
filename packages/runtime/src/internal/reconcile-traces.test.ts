import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collectTraces, treeOf } from '@coxswain/testing/test-support/traces'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { defineOperator, type Operator } from '../operator.ts'
import type { Reconciler } from '../reconcile.ts'
import { Simulation, widgetKind } from '../test-support/simulation.ts'

function operatorOf(reconcile: Reconciler): Operator {
  return defineOperator('test', operator => {
    operator.controller('widgets').for(widgetKind).reconcile(reconcile)
  })
}

const isChildOf = (span: ReadableSpan, parent: ReadableSpan) =>
  span.parentSpanContext?.spanId === parent.spanContext().spanId
const milliseconds = ([seconds, nanos]: readonly [number, number]) => seconds * 1000 + nanos / 1e6

describe('the trace of a reconcile', () => {
  it('leads from the watch event through the queue and the reconcile to the calls', async () => {
    await using sim = new Simulation()
    const traces = collectTraces(sim.world.clock)
    sim.createWidget('other')
    sim.start(
      operatorOf(async ({ key, client, clock, span }) => {
        if (key.name === 'other') return await clock.sleep(2_000)
        span?.setAttributes({ mine: 7 })
        await client.patch(widgetKind, key, { status: { phase: 'Done' } }, { subresource: 'status' })
        await client.direct.get(widgetKind, key)
      }),
      { tracer: traces.tracer },
    )
    await sim.world.advance(500)
    sim.createWidget('a')
    await sim.world.advance(500)
    sim.createWidget('a', 2)
    await sim.world.runUntil(() => sim.records.length >= 2)

    const root = traces.spans().filter(({ name }) => name === 'process widgets')[1]!
    assert.deepEqual(treeOf(traces.spans(), root), [
      'process widgets',
      '  queue',
      '  reconcile widgets',
      '    PATCH widgets.example.com',
      '    GET widgets.example.com',
    ])
    assert.equal(root.parentSpanContext, undefined)
    assert.deepEqual(root.attributes, {
      'coxswain.controller': 'widgets',
      'k8s.object.kind': 'Widget',
      'k8s.object.api_version': 'example.com/v1',
      'k8s.namespace.name': 'default',
      'k8s.object.name': 'a',
    })
    assert.deepEqual(
      root.events.map(({ name, attributes }) => [name, attributes?.['coxswain.trigger']]),
      [
        ['watch event', 'Added'],
        ['watch event', 'Updated'],
      ],
    )
    const queue = traces.spans().find(span => span.name === 'queue' && isChildOf(span, root))!
    assert.ok(Math.abs(milliseconds(queue.duration) - 1_500) < 100)
    const reconcile = traces.spans().filter(({ name }) => name === 'reconcile widgets')[1]!
    assert.deepEqual(reconcile.attributes, {
      mine: 7,
      'coxswain.reconcile.result': 'success',
      'coxswain.reconcile.failures': 0,
    })
  })

  it('is a new one for a retry, and says why the last one failed', async () => {
    await using sim = new Simulation()
    const traces = collectTraces(sim.world.clock)
    let isFirst = true
    sim.start(
      operatorOf(() => {
        if (!isFirst) return
        isFirst = false
        throw new Error('not yet')
      }),
      { tracer: traces.tracer },
    )
    sim.createWidget('a')
    await sim.world.runUntil(() => sim.records.length === 2)
    const [failed, retried] = traces.spans().filter(({ name }) => name === 'process widgets')
    assert.equal(failed?.status.code, 2)
    assert.equal(traces.named('reconcile widgets')?.status.message, 'not yet')
    assert.notEqual(failed.spanContext().traceId, retried?.spanContext().traceId)
    assert.deepEqual(
      retried?.events.map(({ name }) => name),
      ['Retry'],
    )
    assert.equal(milliseconds(retried.duration), 0, 'the back-off does not count as waiting in the queue')
  })

  it('is not made without a tracer', async () => {
    await using sim = new Simulation()
    let seen: unknown = 'none'
    sim.start(
      operatorOf(context => {
        seen = 'span' in context
      }),
    )
    sim.createWidget('a')
    await sim.world.runUntil(() => sim.records.length === 1)
    assert.equal(seen, false)
  })
})
