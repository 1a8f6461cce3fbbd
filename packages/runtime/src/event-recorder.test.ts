import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newForbidden, newServiceUnavailable } from '@coxswain/apimachinery/status'
import { defineOperator, type EventRecorder, type ReconcileContext } from './index.ts'
import type { EventObject, SeriesEventObject } from './internal/kinds.ts'
import { Simulation, type Widget, widgetKind, widgetPath } from './test-support/simulation.ts'

/** A running operator and its recorder. */
async function start(sim: Simulation): Promise<{ events: EventRecorder; widget: Widget }> {
  sim.createWidget('a')
  let recorder: EventRecorder | undefined
  const operator = defineOperator('recorder', builder => {
    builder.task('recorder', async ({ events }) => {
      recorder = events
    })
  })
  sim.start(operator, { hostname: 'station' })
  await sim.world.settle()
  return { events: recorder!, widget: sim.server.object<Widget>(widgetPath('a'))! }
}

const stored = (sim: Simulation): EventObject[] =>
  sim.server.objects('/api/v1/events') as unknown as EventObject[]

const storedSeries = (sim: Simulation): SeriesEventObject[] =>
  sim.server.objects('/apis/events.k8s.io/v1/events') as unknown as SeriesEventObject[]

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
      source: { component: 'recorder' },
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:00Z',
      count: 1,
      reportingComponent: 'recorder',
      reportingInstance: '',
    })
  })

  it('records events of other sources: the component, and its node', async () => {
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

  it('uses the event source of each controller in an operator with several', async () => {
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

  it('names events so that they are listed in the order in which they were recorded', async () => {
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

  it('counts repeated events', async () => {
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

  it('combines similar events, from the tenth on', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    for (let i = 0; i < 15; i++) events.normal(widget, 'Tried', `attempt ${i}`)
    await sim.world.settle()
    const all = stored(sim)
    assert.equal(all.length, 10)
    const combined = all.find(({ message }) => message.startsWith('(combined from similar events): '))!
    assert.equal(combined.count, 6)
  })

  it('drops a flood of events about one object, and no others', async () => {
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

  it('sends a flood of events about many objects at a limited rate, each event with the time at which it happened', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const recordedAt = sim.world.clock.now()
    for (let i = 0; i < 400; i++) {
      const metadata = { ...widget.metadata, name: `w${i}`, uid: `uid-${i}` }
      events.normal({ ...widget, metadata }, 'Started', 'it runs')
    }
    await sim.world.settle()
    assert.equal(stored(sim).length, 100)
    await sim.world.advance(2_000)
    assert.equal(stored(sim).length, 400)
    const times = new Set(stored(sim).map(({ firstTimestamp }) => Date.parse(firstTimestamp)))
    assert.deepEqual([...times], [recordedAt])
  })

  it('retries when the server is unreachable, and not when it rejects an event', async () => {
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

  it('creates a new event when the old one has expired', async () => {
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

  it('sends queued events before it stops', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const widget = sim.server.object<Widget>(widgetPath('a'))!
    const operator = defineOperator('recorder', builder => {
      builder.task('recorder', async ({ events, signal, env }) => {
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

const minute = 60_000

describe('a long message', () => {
  it('is kept, and truncated only where the server would reject it', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const message = 'x'.repeat(2_000)
    events.warning(widget, 'Failed', message)
    events.withAction('Moving').warning(widget, 'Failed', message)
    await sim.world.settle()
    assert.equal(stored(sim)[0]?.message, message)
    assert.equal(storedSeries(sim)[0]?.note, `${'x'.repeat(1_021)}...`)
  })
})

describe('an event recorder with an action', () => {
  it('writes events of events.k8s.io', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const other = { ...widget, metadata: { ...widget.metadata, name: 'b', uid: 'b' } }
    events.from({ component: 'mover' }).withAction('Moving', other).normal(widget, 'Moved', 'it made room')
    await sim.world.settle()
    const [{ metadata, ...rest } = assert.fail('no event')] = storedSeries(sim)
    assert.match(metadata.name, /^a\.[0-9a-f]{16}$/)
    assert.equal(metadata.namespace, 'default')
    const { uid, resourceVersion } = widget.metadata
    const reference = { apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'default', resourceVersion }
    assert.deepEqual(rest, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      eventTime: '2030-01-01T00:00:00.000000Z',
      reportingController: 'mover',
      reportingInstance: 'mover-station',
      action: 'Moving',
      reason: 'Moved',
      regarding: { ...reference, name: 'a', uid },
      related: { ...reference, name: 'b', uid: 'b' },
      note: 'it made room',
      type: 'Normal',
    })
    assert.deepEqual(stored(sim), [])
  })

  it('makes a series of repeated events, written at the second one and then every half an hour', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const recorder = events.withAction('Trying')
    for (let times = 0; times < 40; times++) {
      recorder.warning(widget, 'Failed', `attempt ${times}`)
      await sim.world.advance(minute)
    }
    const [event, ...others] = storedSeries(sim)
    assert.equal(others.length, 0)
    assert.equal(event!.note, 'attempt 0')
    assert.deepEqual(event!.series, { count: 30, lastObservedTime: '2030-01-01T00:29:00.000000Z' })
    const writes = sim.server.calls.filter(({ path }) => path.includes('/events'))
    assert.deepEqual(
      writes.map(({ method, time }) => [method, (time - Date.parse('2030-01-01T00:00:00Z')) / minute]),
      [
        ['POST', 0],
        ['PATCH', 1],
        ['PATCH', 30],
      ],
    )
  })

  it('writes the last count of a series after six minutes without an event', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const recorder = events.withAction('Trying')
    for (let times = 0; times < 4; times++) recorder.warning(widget, 'Failed', 'again')
    await sim.world.advance(minute)
    assert.equal(storedSeries(sim)[0]?.series?.count, 2)
    await sim.world.advance(12 * minute)
    assert.equal(storedSeries(sim)[0]?.series?.count, 4)
    recorder.warning(widget, 'Failed', 'a new one')
    await sim.world.advance(60 * minute)
    assert.deepEqual(
      storedSeries(sim).map(({ series }) => series?.count),
      [4, undefined],
    )
  })

  it('records another event for another version of the object', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const later = { ...widget, metadata: { ...widget.metadata, resourceVersion: '999' } }
    for (const subject of [widget, later]) events.withAction('Trying').warning(subject, 'Failed', 'again')
    await sim.world.settle()
    assert.equal(storedSeries(sim).length, 2)
  })

  it('creates a series again that the server no longer has', async () => {
    await using sim = new Simulation()
    const { events, widget } = await start(sim)
    const recorder = events.withAction('Trying')
    recorder.warning(widget, 'Failed', 'again')
    await sim.world.settle()
    const { metadata } = storedSeries(sim)[0]!
    sim.server.delete(`/apis/events.k8s.io/v1/namespaces/default/events/${metadata.name}`)
    await sim.world.advance(1_000)
    recorder.warning(widget, 'Failed', 'again')
    await sim.world.settle()
    assert.equal(storedSeries(sim)[0]?.series?.count, 2)
  })
})
