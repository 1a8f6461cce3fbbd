import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ControllerBuilder } from './controller-builder.ts'
import { isRuntimeError } from './errors.ts'
import { defineOperator, describeOperator, type Operator } from './operator.ts'
import { generationChanged, hasLabels } from './predicates.ts'
import { type ReconcileContext, requeueAfter } from './reconcile.ts'
import { podKind, podPath, Simulation, widgetKind, widgetPath } from './test-support/simulation.ts'

type Reconcile = (context: ReconcileContext) => void

function operatorOf(
  describeIt: (builder: ControllerBuilder) => ControllerBuilder,
  reconcile: Reconcile = () => {},
) {
  return defineOperator('test', operator => {
    describeIt(operator.controller('widgets')).reconcile(context => reconcile(context))
  })
}

/** An operator that reconciles widgets and records which. */
function noting(describeIt: (builder: ControllerBuilder) => ControllerBuilder): {
  readonly operator: Operator
  readonly seen: string[]
} {
  const seen: string[] = []
  const operator = operatorOf(describeIt, ({ key, triggers }) => {
    seen.push(`${key.name} ${triggers.map(({ type }) => type).join()}`)
  })
  return { operator, seen }
}

function putPod(
  sim: Simulation,
  name: string,
  fields: { nodeName?: string; labels?: Record<string, string> },
): void {
  const { nodeName, labels = {} } = fields
  sim.server.put(podPath(name), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name, labels },
    spec: { ...(nodeName && { nodeName }) },
  })
}

describe('several finalizers', () => {
  const [first, second] = ['example.com/first', 'example.com/second']
  const finalizersOf = (sim: Simulation) => sim.server.object(widgetPath('a'))?.metadata.finalizers

  it('are added in one write, before the first reconcile', async () => {
    await using sim = new Simulation()
    const seen: unknown[] = []
    const operator = defineOperator('test', builder => {
      builder
        .controller('widgets')
        .for(widgetKind)
        .finalizer(first, () => {})
        .finalizer(second, () => {})
        .reconcile(async ({ client, key }) => {
          seen.push((await client.get(widgetKind, key))?.metadata.finalizers)
        })
    })
    sim.start(operator)
    sim.createWidget('a')
    await sim.world.settle()
    assert.deepEqual(seen[0], [first, second])
    assert.deepEqual(sim.server.writes(), [`PATCH ${widgetPath('a')}`])
  })

  it('are removed each after its own clean-up: one that fails or waits does not block the others', async () => {
    await using sim = new Simulation()
    const calls = { first: 0, second: 0, third: 0 }
    let broken = true
    const operator = operatorOf(builder =>
      builder
        .for(widgetKind)
        .finalizer(first, () => {
          calls.first++
          if (broken) throw new Error('the outside is down')
        })
        .finalizer(second, () => void calls.second++)
        .finalizer('example.com/third', () => (calls.third++ < 2 ? requeueAfter(1_000) : undefined)),
    )
    sim.start(operator)
    sim.createWidget('a')
    await sim.world.settle()
    sim.server.delete(widgetPath('a'))
    await sim.world.advance(10_000)
    assert.deepEqual(finalizersOf(sim), [first])
    assert.equal(calls.second, 1, 'what has succeeded is not called again')
    broken = false
    await sim.world.advance(60_000)
    assert.equal(sim.server.object(widgetPath('a')), undefined)
  })

  it('need unique names', () => {
    const operator = operatorOf(builder =>
      builder
        .for(widgetKind)
        .finalizer(first, () => {})
        .finalizer(first, () => {}),
    )
    assert.throws(
      () => describeOperator(operator),
      error => isRuntimeError(error, 'BadDefinition'),
    )
  })
})

describe('an event filter', () => {
  it('applies to every kind of the controller, in addition to its own predicates', async () => {
    await using sim = new Simulation()
    const { operator, seen } = noting(builder =>
      builder
        .withEventFilter(hasLabels({ watched: 'yes' }))
        .for(widgetKind, { predicates: [generationChanged] })
        .watches(podKind, ({ metadata }) => [{ namespace: 'default', name: `pod-${metadata.name}` }]),
    )
    sim.start(operator)
    await sim.world.settle()
    sim.createWidget('a')
    sim.createWidget('b', 1, { labels: { watched: 'yes' } })
    putPod(sim, 'c', {})
    putPod(sim, 'd', { labels: { watched: 'yes' } })
    await sim.world.settle()
    assert.deepEqual(seen.toSorted(), ['b Added', 'pod-d Added'])
  })
})

describe('event handlers', () => {
  it('see the old and the new object, and events without a handler are ignored', async () => {
    await using sim = new Simulation()
    const moves: string[] = []
    const { operator, seen } = noting(builder =>
      builder.watches(podKind, {
        update: ({ old, object }) => {
          moves.push(`${old.spec?.nodeName} -> ${object.spec?.nodeName}`)
          return object.spec?.nodeName === old.spec?.nodeName ? [] : [{ name: object.spec?.nodeName ?? '' }]
        },
      }),
    )
    sim.start(operator)
    await sim.world.settle()
    putPod(sim, 'p', { nodeName: 'n1' })
    await sim.world.settle()
    putPod(sim, 'p', { nodeName: 'n2' })
    await sim.world.settle()
    putPod(sim, 'p', { nodeName: 'n2', labels: { a: 'b' } })
    await sim.world.settle()
    sim.server.delete(podPath('p'))
    await sim.world.settle()
    assert.deepEqual(moves, ['n1 -> n2', 'n2 -> n2'])
    assert.deepEqual(seen, ['n2 Updated'])
  })
})

describe('a custom source', () => {
  it('is run with the controller, and reconciles begin when it is ready', async () => {
    await using sim = new Simulation()
    let ended = false
    const { operator, seen } = noting(builder =>
      builder.for(widgetKind).source(async ({ send, ready, clock, signal }) => {
        await clock.sleep(5_000, { signal })
        send({ namespace: 'default', name: 'outside' })
        ready()
        await clock.sleep(10_000, { signal })
        send({ namespace: 'default', name: 'later' }, { after: 1_000 })
        await clock.sleep(3_600_000, { signal }).finally(() => {
          ended = true
        })
      }),
    )
    const { stop, stopped } = sim.start(operator)
    sim.createWidget('a')
    await sim.world.advance(4_999)
    assert.deepEqual(seen, [], 'not before every source is ready')
    await sim.world.advance(1)
    assert.deepEqual(seen, ['outside Generic', 'a Initial'], 'the initial list has low priority')
    await sim.world.advance(10_999)
    assert.equal(seen.length, 2)
    await sim.world.advance(1)
    assert.equal(seen[2], 'later Generic')
    stop()
    await sim.world.run(stopped)
    assert.ok(ended, 'run resolves after the source has ended')
  })

  it('is restarted after a failure, with back-off', async () => {
    await using sim = new Simulation()
    const starts: number[] = []
    const { operator, seen } = noting(builder =>
      builder.source(async ({ send, clock }) => {
        starts.push(clock.monotonic())
        if (starts.length < 4) throw new Error('the queue is down')
        send({ name: 'x' })
      }),
    )
    sim.start(operator)
    await sim.world.advance(60_000)
    const waits = starts.slice(1).map((time, index) => time - starts[index]!)
    assert.deepEqual(waits, [1_000, 2_000, 4_000])
    assert.deepEqual(seen, ['x Generic'])
    assert.equal(sim.warnings().length, 3)
  })
})
