import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { newConflict } from '@coxswain/apimachinery/status'
import { createRealEnv } from '@coxswain/kit'
import { type ControllerOptions, defineOperator, TerminalError } from './index.ts'
import { EventCorrelator } from './internal/event-correlator.ts'
import type { EventInput, EventObject } from './internal/kinds.ts'
import { Simulation, widgetKind } from './test-support/simulation.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** An operator whose reconcile throws `failure(attempt)`. */
function failing(failure: (tries: number) => unknown, options: ControllerOptions = {}) {
  let tries = 0
  return defineOperator('failing', operator =>
    operator
      .controller('widget')
      .for(widgetKind)
      .options(options)
      .reconcile(() => {
        const error = failure(++tries)
        if (error !== undefined) throw error
      }),
  )
}

const stored = (sim: Simulation): EventObject[] =>
  sim.server.objects('/api/v1/events') as unknown as EventObject[]

describe('a reconcile that keeps failing', () => {
  it('records one Warning event on its object, with a count', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    sim.start(failing(() => new Error(`no such image ${'x'.repeat(2_000)}`)))
    await sim.world.advance(10_000)
    const [event, ...others] = stored(sim)
    assert.deepEqual(others, [])
    const { type, reason, message, involvedObject, source, count } = event!
    assert.deepEqual([type, reason, source.component], ['Warning', 'ReconcileError', 'failing'])
    assert.equal(message.length, 1024)
    assert.match(message, /^no such image x+\.\.\.$/)
    assert.equal(involvedObject.kind, 'Widget')
    assert.ok(involvedObject.uid)
    const failures = sim.records.filter(({ result }) => result === 'error').length
    assert.ok(failures > 5 && count === failures - 2, `${count} of ${failures}`)
  })

  it('records none when it succeeds soon, or only hits conflicts', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    sim.start(failing(tries => (tries < 3 ? new Error('not yet') : undefined)))
    sim.start(failing(() => newConflict({ group: 'example.com', resource: 'widgets' }, 'a', 'raced')))
    await sim.world.advance(10_000)
    assert.deepEqual(stored(sim), [])
  })

  it('records one at once when it will not be retried', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    sim.start(failing(() => new TerminalError('the size is negative')))
    await sim.world.advance(1_000)
    assert.deepEqual(
      stored(sim).map(({ message, count }) => [message, count]),
      [['the size is negative', 1]],
    )
  })

  it('records none when the reconcile has recorded a Warning itself', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const operator = defineOperator('warning', builder =>
      builder
        .controller('widget')
        .for(widgetKind)
        .reconcile(async ({ key, client, events }) => {
          const widget = (await client.get(widgetKind, key))!
          events.from({ component: 'x' }).warning(widget, 'Refused', 'the size is taken')
          throw new Error('refused')
        }),
    )
    sim.start(operator)
    await sim.world.advance(10_000)
    assert.deepEqual(
      stored(sim).map(({ reason }) => reason),
      ['Refused'],
    )
  })

  it('records none when the host or the controller disables it', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const bad = () => new Error('bad')
    sim.start(failing(bad), { errorEvents: false })
    sim.start(failing(bad, { errorEvents: false }))
    await sim.world.advance(10_000)
    assert.deepEqual(stored(sim), [])
  })

  it('sends events at a limited rate when thousands of objects fail', async () => {
    await using sim = new Simulation()
    for (let i = 0; i < 10_000; i++) sim.createWidget(`w${i}`)
    sim.start(failing(() => new TerminalError('the disk is full')))
    await sim.world.advance(30_000)
    const count = stored(sim).length
    assert.ok(count > 1_000 && count <= 100 + 30 * 500, `${count} events`)
  })

  it('keeps no messages that differ every time', () => {
    const correlator = new EventCorrelator(createRealEnv().clock)
    const event = {
      involvedObject: { kind: 'Widget', name: 'a' },
      source: { component: 'x' },
      type: 'Warning',
      reason: 'R',
    }
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 100_000; i++)
      correlator.correlate({ ...event, message: `${i} ${'x'.repeat(1_000)}${i}` } as unknown as EventInput)
    collectGarbage()
    assert.ok(process.memoryUsage().heapUsed - before < 10e6)
  })
})
