import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineOperator, requeueAfter } from './index.ts'
import {
  podKind,
  podPath,
  Simulation,
  type Widget,
  widgetKind,
  widgetPath,
} from './test-support/simulation.ts'

/** Makes a Pod for each Widget after ten seconds, and copies the Pod's phase. */
const widgets = defineOperator('widgets', operator => {
  operator
    .controller('widget')
    .for(widgetKind)
    .owns(podKind)
    .reconcile(async ({ key, client, clock, events }) => {
      const widget = await client.get(widgetKind, key)
      if (!widget) return
      const wait = Date.parse(widget.metadata.creationTimestamp) + 10_000 - clock.now()
      if (wait > 0) return requeueAfter(wait)
      let pod = await client.get(podKind, key)
      if (!pod) {
        const { apiVersion, kind, metadata } = widget
        const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }
        pod = await client.create(podKind, { metadata: { ...key, ownerReferences: [owner] } })
        events.normal(widget, 'Created', `created pod ${key.name}`)
      }
      const phase = pod.status?.phase ?? 'Pending'
      if (widget.status?.phase !== phase)
        await client.updateStatus(widgetKind, { ...widget, status: { phase } })
    })
})

async function voyage(seed: number) {
  await using sim = new Simulation({ seed })
  sim.start(widgets)
  sim.createWidget('a')
  sim.createWidget('b')
  await sim.world.advance(9_000)
  assert.deepEqual(sim.server.writes(), [], 'it is not time yet')
  await sim.world.advance(2_000)
  for (const name of ['a', 'b']) {
    assert.equal(sim.server.object<Widget>(widgetPath(name))?.status?.phase, 'Pending')
    sim.server.put(podPath(name), { ...sim.server.object(podPath(name))!, status: { phase: 'Running' } })
  }
  await sim.world.settle()
  for (const name of ['a', 'b']) {
    assert.equal(sim.server.object<Widget>(widgetPath(name))?.status?.phase, 'Running')
  }
  const events = sim.server.objects('/api/v1/events')
  assert.equal(events.length, 2)
  assert.deepEqual(sim.warnings(), [])
  return { log: sim.steps.map(({ time, label }) => `${time} ${label}`).join('\n'), calls: sim.server.calls }
}

describe('an operator', () => {
  it('waits, creates what it owns, and follows it', async () => {
    const { calls } = await voyage(1)
    const writes = calls.filter(({ method, path }) => method !== 'GET' && !path.includes('events'))
    assert.deepEqual(writes.map(({ method, path }) => `${method} ${path}`).sort(), [
      'POST /api/v1/namespaces/default/pods',
      'POST /api/v1/namespaces/default/pods',
      `PUT ${widgetPath('a')}/status`,
      `PUT ${widgetPath('a')}/status`,
      `PUT ${widgetPath('b')}/status`,
      `PUT ${widgetPath('b')}/status`,
    ])
  })

  it('does the same from the same seed, step by step, and something else from another', async () => {
    const [first, again, other] = [await voyage(1), await voyage(1), await voyage(2)]
    assert.equal(first.log, again.log)
    assert.deepEqual(first.calls, again.calls)
    assert.notEqual(first.log, other.log)
  })

  it('ends in the desired state in whatever order things happen', async () => {
    for (let seed = 1; seed <= 100; seed++) await voyage(seed)
  })
})
