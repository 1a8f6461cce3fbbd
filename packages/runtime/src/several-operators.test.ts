import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineOperator, Manager, type Operator, type WebhookListener } from './index.ts'
import type { EventObject, Lease } from './internal/kinds.ts'
import { podKind, Simulation, type Widget, widgetKind } from './test-support/simulation.ts'
import type { WebhookConfiguration } from './webhook/kinds.ts'

const bySize = (widget: Widget, shift: number) => [String((widget.spec?.size ?? 0) + shift)]

/** Records what its cached list by the index `size` finds. */
function sizes(name: string, shift: number, found: Map<string, string[]>): Operator {
  return defineOperator(name, operator => {
    operator.index(widgetKind, 'size', widget => bySize(widget as Widget, shift))
    operator
      .controller(`${name}-widgets`)
      .for(widgetKind)
      .reconcile(async ({ client, events, key }) => {
        const widget = (await client.get(widgetKind, key))!
        const { items } = await client.list(widgetKind, { fields: { size: '1' } })
        found.set(name, items.map(item => item.metadata.name).toSorted())
        events.normal(widget, 'Seen', `by ${name}`)
      })
    operator.readyCheck('own', () => {})
  })
}

describe('several operators of one manager', () => {
  it('share one watch of a kind and one lease, and keep their indexes and event sources apart', async () => {
    await using sim = new Simulation()
    sim.createWidget('small', 0)
    sim.createWidget('large', 1)
    const found = new Map<string, string[]>()
    const { manager } = sim.start([sizes('first', 0, found), sizes('second', 1, found)], {
      leaderElection: { namespace: 'kube-system' },
    })
    await sim.world.advance(5_000)
    assert.deepEqual(found.get('first'), ['large'])
    assert.deepEqual(found.get('second'), ['small'])
    assert.equal(sim.server.openWatches, 1)
    const leases = sim.server.objects('/apis/coordination.k8s.io/v1/leases') as unknown as Lease[]
    assert.deepEqual(
      leases.map(({ metadata }) => metadata.name),
      ['first-second'],
    )
    const events = sim.server.objects('/api/v1/events') as unknown as EventObject[]
    const seen = new Set(
      events.filter(({ reason }) => reason === 'Seen').map(({ source }) => source?.component),
    )
    assert.deepEqual([...seen].toSorted(), ['first', 'second'])
    const { checks } = await manager.checkReady()
    assert.deepEqual(
      checks.map(({ name }) => name),
      ['caches', 'first.own', 'second.own'],
    )
  })

  it('may each restrict the cache of a kind', async () => {
    await using sim = new Simulation()
    const watching = (name: string, labelSelector?: string) =>
      defineOperator(name, operator => {
        if (labelSelector !== undefined) operator.cache(widgetKind, { labelSelector })
        operator
          .controller(name)
          .for(widgetKind)
          .reconcile(() => {})
      })
    sim.start([watching('some', 'app=x'), watching('all')])
    await sim.world.advance(1_000)
    assert.equal(sim.server.openWatches, 2, 'one with the selector, one without')
  })

  it('are rejected when two have a controller of one name, or a concurrency names no controller', () => {
    const named = (operator: string, controller: string) =>
      defineOperator(operator, builder =>
        builder
          .controller(controller)
          .for(widgetKind)
          .reconcile(() => {}),
      )
    const transport = { send: () => Promise.reject(), async [Symbol.asyncDispose]() {} }
    assert.throws(() => new Manager([named('a', 'x'), named('b', 'x')], { transport }), {
      code: 'BadDefinition',
      message: 'there are two controllers x',
    })
    assert.throws(() => new Manager(named('a', 'x'), { transport, concurrency: { y: 2 } }), {
      code: 'BadDefinition',
      message: 'there is no controller y; there are: x',
    })
  })

  it('share one listener, each with its own webhook configuration', async () => {
    await using sim = new Simulation()
    let listening = 0
    const listener: WebhookListener = {
      hosts: [],
      listen: async () => {
        listening++
        return { service: { namespace: 'default', name: 'hooks' } }
      },
    }
    const validating = (name: string, kind: typeof podKind | typeof widgetKind) =>
      defineOperator(name, operator => void operator.webhook(kind).validate(() => {}))
    sim.start([validating('first', widgetKind), validating('second', podKind)], { webhooks: { listener } })
    await sim.world.advance(1_000)
    const stored = sim.server.objects(
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    ) as unknown as WebhookConfiguration[]
    assert.deepEqual(
      stored.map(({ metadata, webhooks = [] }) => [metadata.name, webhooks[0]?.clientConfig.service?.path]),
      [
        ['first', '/validate-example-com-v1-widget'],
        ['second', '/validate--v1-pod'],
      ],
    )
    assert.equal(listening, 1)
  })

  it('use the concurrency of the host', async () => {
    await using sim = new Simulation()
    for (const name of ['a', 'b', 'c', 'd']) sim.createWidget(name)
    let running = 0
    let most = 0
    const operator = defineOperator('busy', builder =>
      builder
        .controller('busy')
        .for(widgetKind)
        .reconcile(async ({ clock }) => {
          most = Math.max(most, ++running)
          await clock.sleep(100)
          running--
        }),
    )
    sim.start(operator, { concurrency: { busy: 3 } })
    await sim.world.advance(1_000)
    assert.equal(most, 3)
  })
})
