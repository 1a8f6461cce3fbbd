import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newForbidden, newServiceUnavailable } from '@coxswain/apimachinery'
import { defineOperator, type EventRecorder, type ReconcileContext } from './index.ts'
import type { EventObject } from './internal/kinds.ts'
import { Simulation, type Widget, widgetKind, widgetPath } from './test-support/simulation.ts'

/** A running operator and its recorder. */
async function start(sim: Simulation): Promise<{ events: EventRecorder; widget: Widget }> {
  sim.createWidget('a')
  let recorder: EventRecorder | undefined
  const operator = defineOperator('teller', builder => {
    builder.task('teller', async ({ events }) => {
      recorder = events
    })
  })
  sim.start(operator)
  await sim.world.settle()
  return { events: recorder!, widget: sim.server.object<Widget>(widgetPath('a'))! }
}

const stored = (sim: Simulation): EventObject[] =>
  sim.server.objects('/api/v1/events') as unknown as EventObject[]

describe('an event recorder', () => {
  it('writes what kubectl shows', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    events.warning(widget, 'BadSchedule', 'the schedule makes no sense')
    await sim.world.settle()
    const [event] = stored(sim)
    const { metadata, ...rest } = event!
    assert.match(metadata.name, /^a\.[0-9a-f]{16}$/)
    assert.equal(metadata.namespace, 'default')
    assert.deepEqual(rest, {
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        namespace: 'default',
        name: 'a',
        uid: widget.metadata.uid,
        resourceVersion: widget.metadata.resourceVersion,
      },
      type: 'Warning',
      reason: 'BadSchedule',
      message: 'the schedule makes no sense',
      source: { component: 'teller' },
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:00Z',
      count: 1,
      reportingComponent: 'teller',
      reportingInstance: '',
    })
  })

  it('tells for others: who they are, and on which node', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    events.from({ component: 'kubelet', host: 'node-1' }).normal(widget, 'Started', 'it runs')
    events.from({ component: 'kubelet', host: 'node-2' }).normal(widget, 'Started', 'it runs')
    await sim.world.settle()
    const [event, other] = stored(sim)
    assert.deepEqual(event?.source, { component: 'kubelet', host: 'node-1' })
    assert.equal(event?.reportingComponent, 'kubelet')
    assert.equal(event?.reportingInstance, 'node-1')
    assert.equal(other?.reportingInstance, 'node-2')
  })

  it('says of a controller in an operator of many what the controller calls itself', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const widget = sim.server.object<Widget>(widgetPath('a'))!
    const operator = defineOperator('all', builder => {
      const reconcile = ({ events }: ReconcileContext) => events.normal(widget, 'Seen', 'it is there')
      builder
        .controller('first')
        .for(widgetKind)
        .options({ eventSource: 'first-controller' })
        .reconcile(async context => reconcile(context))
      builder
        .controller('second')
        .for(widgetKind)
        .reconcile(async context => reconcile(context))
    })
    sim.start(operator)
    await sim.world.settle()
    assert.deepEqual(
      stored(sim)
        .map(({ source }) => source.component)
        .sort(),
      ['all', 'first-controller'],
    )
  })

  it('names events so that they are listed in the order in which they were told', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const reasons = ['Scheduled', 'Pulling', 'Pulled', 'Created', 'Started', 'Killing']
    for (const reason of reasons) events.normal(widget, reason, 'all in one millisecond')
    await sim.world.settle()
    const listed = stored(sim).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    assert.deepEqual(
      listed.map(({ reason }) => reason),
      reasons,
    )
  })

  it('counts up what repeats', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    for (let i = 0; i < 5; i++) {
      events.normal(widget, 'Synced', 'all is well')
      await sim.world.advance(60_000)
    }
    const [event, ...others] = stored(sim)
    assert.equal(others.length, 0)
    assert.deepEqual(
      [event!.count, event!.firstTimestamp, event!.lastTimestamp],
      [5, '2030-01-01T00:00:00Z', '2030-01-01T00:04:00Z'],
    )
  })

  it('combines what is similar, from the tenth on', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    for (let i = 0; i < 15; i++) events.normal(widget, 'Tried', `attempt ${i}`)
    await sim.world.settle()
    const all = stored(sim)
    assert.equal(all.length, 10)
    const combined = all.find(({ message }) => message.startsWith('(combined from similar events): '))!
    assert.equal(combined.count, 6)
  })

  it('cuts off a flood about one object, and no other', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    for (let i = 0; i < 100; i++) events.normal(widget, `Reason${i}`, 'again')
    const other = { ...widget, metadata: { ...widget.metadata, name: 'b', uid: 'b' } }
    events.normal(other, 'Fine', 'nothing special')
    await sim.world.settle()
    assert.equal(stored(sim).length, 26)
    await sim.world.advance(300_000)
    events.normal(widget, 'Later', 'one more')
    await sim.world.settle()
    assert.equal(stored(sim).length, 27, 'one more every five minutes')
  })

  it('tries again when the server is away, and not when it refuses', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    sim.server.intercept = () => newServiceUnavailable('soon')
    events.normal(widget, 'Synced', 'all is well')
    await sim.world.advance(1_000)
    assert.equal(stored(sim).length, 0)
    sim.server.intercept = () => undefined
    await sim.world.advance(30_000)
    assert.equal(stored(sim).length, 1)
    sim.server.intercept = () => newForbidden({ group: '', resource: 'events' }, '', 'no')
    const before = sim.server.calls.length
    events.normal(widget, 'Refused', 'x')
    await sim.world.advance(600_000)
    assert.equal(sim.server.calls.filter(({ method }) => method === 'POST').length, 3)
    assert.ok(sim.server.calls.length > before)
  })

  it('makes a new one when the old one has expired', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    events.normal(widget, 'Synced', 'all is well')
    await sim.world.settle()
    const { metadata } = stored(sim)[0]!
    sim.server.delete(`/api/v1/namespaces/default/events/${metadata.name}`)
    await sim.world.advance(1_000)
    events.normal(widget, 'Synced', 'all is well')
    await sim.world.settle()
    assert.equal(stored(sim).length, 1)
  })

  it('sends what waits before it stops', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const widget = sim.server.object<Widget>(widgetPath('a'))!
    const operator = defineOperator('teller', builder => {
      builder.task('teller', async ({ events, signal, env }) => {
        await env.clock.sleep(100_000, { signal }).catch(() => {})
        events.normal(widget, 'Stopping', 'good bye')
      })
    })
    const { stop, stopped } = sim.start(operator)
    await sim.world.advance(1_000)
    stop()
    await sim.world.run(stopped)
    assert.deepEqual(
      stored(sim).map(({ reason }) => reason),
      ['Stopping'],
    )
  })
})
