import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { keyOf } from '@coxswain/apimachinery/meta'
import { newConflict, newInternalError } from '@coxswain/apimachinery/status'
import {
  type ControllerBuilder,
  createChannel,
  defineOperator,
  generationChanged,
  hasLabels,
  type Operator,
  type ReconcileContext,
  type Reconciler,
  requeueAfter,
  TerminalError,
} from './index.ts'
import { podKind, podPath, Simulation, widgetKind, widgetPath } from './test-support/simulation.ts'

/** An operator of one controller for widgets. */
function operatorOf(reconcile: Reconciler, describeMore = (builder: ControllerBuilder) => builder): Operator {
  return defineOperator('test', operator => {
    describeMore(operator.controller('widget').for(widgetKind)).reconcile(reconcile)
  })
}

describe('a controller', () => {
  it('reconciles the initial list with low priority, and then changes', async () => {
    await using sim = new Simulation()
    const seen: string[] = []
    for (const name of ['a', 'b', 'c']) sim.createWidget(name)
    const operator = operatorOf(async ({ key, clock }) => {
      seen.push(key.name)
      await clock.sleep(100)
    })
    sim.start(operator)
    await sim.world.advance(50)
    sim.createWidget('urgent')
    await sim.world.advance(1_000)
    assert.equal(seen.indexOf('urgent'), 1, `the new one goes before those that were there: ${seen}`)
    assert.deepEqual([...seen].sort(), ['a', 'b', 'c', 'urgent'])
  })

  it('takes the events of a watched kind in the order of their priority', async () => {
    await using sim = new Simulation()
    const seen: string[] = []
    const operator = defineOperator('priorities', builder => {
      builder
        .controller('widget')
        .for(widgetKind, { priority: 5, predicates: [({ object }) => object.metadata.name !== 'plain'] })
        .watches(widgetKind, object => (object.metadata.name === 'plain' ? [keyOf(object)] : []))
        .reconcile(async ({ key, clock }) => {
          seen.push(key.name)
          await clock.sleep(100)
        })
    })
    sim.start(operator)
    await sim.world.advance(50)
    for (const name of ['busy', 'plain', 'urgent']) {
      sim.createWidget(name)
      await sim.world.advance(10)
    }
    await sim.world.advance(1_000)
    assert.deepEqual(seen, ['busy', 'urgent', 'plain'])
  })

  it('runs as many reconciles as its concurrency, and never two of one object', async () => {
    await using sim = new Simulation()
    const running = new Set<string>()
    let most = 0
    const reconcile: Reconciler = async ({ key, clock }) => {
      assert.ok(!running.has(key.name))
      running.add(key.name)
      most = Math.max(most, running.size)
      await clock.sleep(1_000)
      running.delete(key.name)
    }
    sim.start(operatorOf(reconcile, builder => builder.options({ concurrency: 3 })))
    for (let i = 0; i < 10; i++) sim.createWidget(`w${i}`)
    await sim.world.advance(500)
    for (let i = 0; i < 10; i++) sim.createWidget(`w${i}`, 2)
    await sim.world.advance(20_000)
    assert.equal(most, 3)
    assert.equal(sim.records.length >= 13, true)
    assert.ok(sim.records.every(({ result }) => result === 'success'))
  })

  it('starts at once, and then keeps the minimum interval between two reconciles of one object', async () => {
    await using sim = new Simulation()
    const times: number[] = []
    const reconcile: Reconciler = ({ clock }) => {
      times.push(clock.monotonic())
    }
    sim.start(operatorOf(reconcile, builder => builder.options({ minInterval: 1_000 })))
    await sim.world.advance(10)
    const begin = sim.world.clock.monotonic()
    for (let size = 1; size <= 25; size++) {
      sim.createWidget('w', size)
      await sim.world.advance(100)
    }
    await sim.world.advance(5_000)
    assert.ok(times[0]! < begin + 100)
    const gaps = times.slice(1).map((time, index) => time - times[index]!)
    assert.ok(gaps.length >= 2 && gaps.length <= 3, `${gaps}`)
    assert.ok(
      gaps.every(gap => gap >= 1_000),
      `${gaps}`,
    )
  })

  it('backs off when it fails, and resets the back-off when it succeeds', async () => {
    await using sim = new Simulation()
    const times: number[] = []
    let failing = true
    const operator = operatorOf(({ clock, failures }) => {
      times.push(clock.now())
      assert.equal(failures, failing ? times.length - 1 : 5)
      if (failing) throw new Error('not yet')
    })
    sim.start(operator)
    sim.createWidget('a')
    await sim.world.runUntil(() => times.length === 5)
    failing = false
    assert.deepEqual(
      times.slice(1).map((time, index) => time - times[index]!),
      [5, 10, 20, 40],
    )
    await sim.world.advance(1_000)
    assert.deepEqual(
      sim.records.map(({ result, failures }) => `${result} ${failures}`),
      ['error 1', 'error 2', 'error 3', 'error 4', 'error 5', 'success 0'],
    )
    assert.equal(sim.warnings().length, 5, 'each failure is logged, once')
  })

  it('does not retry after a TerminalError until the next event', async () => {
    await using sim = new Simulation()
    const { manager } = sim.start(
      operatorOf(() => {
        throw new TerminalError('bad spec')
      }),
    )
    sim.createWidget('a')
    await sim.world.advance(3_600_000)
    assert.equal(sim.records.length, 1)
    sim.createWidget('a', 2)
    await sim.world.advance(1_000)
    assert.equal(sim.records.length, 2)
    assert.match(manager.metrics.text(), /terminal_reconcile_errors_total\{controller="widget"\} 2/)
  })

  it('reconciles again after requeueAfter, or earlier at an event', async () => {
    await using sim = new Simulation()
    const times: number[] = []
    const begin = sim.world.clock.now()
    sim.start(
      operatorOf(({ clock }) => {
        times.push(clock.now() - begin)
        return requeueAfter(60_000)
      }),
    )
    sim.createWidget('a')
    await sim.world.advance(90_000)
    sim.createWidget('a', 2)
    await sim.world.advance(100_000)
    assert.deepEqual(times, [0, 60_000, 90_000, 150_000])
  })

  it('also retries after an AbortError that is not its own', async () => {
    await using sim = new Simulation()
    sim.start(
      operatorOf(() => {
        throw new DOMException('a request of its own was given up', 'AbortError')
      }),
    )
    sim.createWidget('a')
    await sim.world.advance(20)
    assert.ok(sim.records.length > 1)
    assert.equal(sim.warnings().length, sim.records.length)
  })

  it('treats requeueAfter(NaN) as an error', async () => {
    await using sim = new Simulation()
    sim.start(operatorOf(() => requeueAfter(Date.parse('tomorrow'))))
    sim.createWidget('a')
    await sim.world.advance(1_000)
    assert.ok(sim.records.length < 10, 'it backs off')
    assert.ok(sim.records.every(({ error }) => error instanceof RangeError))
  })

  it('contains a bug in the reconciler, and counts it as a panic', async () => {
    await using sim = new Simulation()
    const { manager } = sim.start(
      operatorOf(({ key }) => {
        if (key.name === 'bad') (undefined as unknown as { boom(): void }).boom()
      }),
    )
    sim.createWidget('bad')
    sim.createWidget('good')
    await sim.world.advance(6)
    assert.ok(sim.records.some(({ key, result }) => key === 'default/good' && result === 'success'))
    assert.match(manager.metrics.text(), /reconcile_panics_total\{controller="widget"\} [12]/)
  })

  it('aborts a reconcile that exceeds its timeout, and retries', async () => {
    await using sim = new Simulation()
    const reconcile: Reconciler = ({ clock, signal }) => clock.sleep(100_000, { signal })
    const { manager } = sim.start(operatorOf(reconcile, builder => builder.options({ timeout: 1_000 })))
    sim.createWidget('a')
    await sim.world.advance(2_500)
    assert.equal(sim.records.length, 2)
    assert.equal((sim.records[0]!.error as { code: string }).code, 'ReconcileTimeout')
    assert.match(manager.metrics.text(), /reconcile_timeouts_total\{controller="widget"\} 2/)
  })

  it('reconciles everything again after the resync period', async () => {
    await using sim = new Simulation()
    sim.start(
      operatorOf(
        () => {},
        builder => builder.options({ resyncPeriod: 60_000 }),
      ),
    )
    await sim.world.settle()
    sim.createWidget('a')
    await sim.world.advance(130_000)
    assert.deepEqual(
      sim.records.map(({ triggers }) => triggers[0]!.type),
      ['Added', 'Resync', 'Resync'],
    )
  })
})

describe('sources', () => {
  it('owned objects cause reconciles of their controlling owner, before and after a change', async () => {
    await using sim = new Simulation()
    sim.start(
      operatorOf(
        () => {},
        builder => builder.owns(podKind),
      ),
    )
    const owner = (name: string, controller = true) => ({
      apiVersion: 'example.com/v1beta1',
      kind: 'Widget',
      name,
      uid: '1',
      controller,
    })
    const pod = (...ownerReferences: unknown[]) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', name: 'p', ownerReferences },
    })
    await sim.world.settle()
    sim.server.put(podPath('p'), pod(owner('a')))
    await sim.world.settle()
    sim.server.put(
      podPath('p'),
      pod(owner('b'), owner('c', false), { ...owner('d'), apiVersion: 'other/v1' }),
    )
    await sim.world.settle()
    assert.deepEqual(sim.records.map(({ key }) => key).sort(), ['default/a', 'default/a', 'default/b'])
  })

  it('other kinds are mapped, with lookups in the cache', async () => {
    await using sim = new Simulation()
    const operator = operatorOf(
      () => {},
      builder =>
        builder.watches(podKind, (pod, lookup) =>
          lookup
            .list(widgetKind, { namespace: pod.metadata.namespace! })
            .map(({ metadata }) => ({ namespace: metadata.namespace!, name: metadata.name })),
        ),
    )
    sim.createWidget('a')
    sim.createWidget('b')
    sim.start(operator)
    await sim.world.settle()
    sim.records.length = 0
    sim.server.put(podPath('p'), { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } })
    await sim.world.settle()
    assert.deepEqual(sim.records.map(({ key }) => key).sort(), ['default/a', 'default/b'])
  })

  it('events can be batched before a reconcile', async () => {
    await using sim = new Simulation()
    const times: number[] = []
    sim.start(
      defineOperator('test', operator => {
        operator
          .controller('widget')
          .for(widgetKind, { delay: 1_000 })
          .reconcile(({ clock }) => {
            times.push(clock.monotonic())
          })
      }),
    )
    await sim.world.advance(10)
    const begin = sim.world.clock.monotonic()
    for (let size = 1; size <= 5; size++) {
      sim.createWidget('w', size)
      await sim.world.advance(100)
    }
    await sim.world.advance(5_000)
    assert.equal(times.length, 1)
    assert.ok(times[0]! >= begin + 1_000 && times[0]! < begin + 1_100)
  })

  it('predicates filter events', async () => {
    await using sim = new Simulation()
    const operator = defineOperator('test', builder => {
      builder
        .controller('spec')
        .for(widgetKind, { predicates: [generationChanged] })
        .reconcile(() => {})
      builder
        .controller('labelled')
        .for(widgetKind, { predicates: [hasLabels({ tier: 'gold' })] })
        .reconcile(() => {})
    })
    sim.start(operator)
    await sim.world.settle()
    sim.createWidget('a')
    await sim.world.settle()
    sim.server.put(widgetPath('a'), { ...sim.server.object(widgetPath('a'))!, status: { phase: 'x' } })
    await sim.world.settle()
    assert.equal(sim.records.length, 1, 'a status change is not a spec change')
    sim.createWidget('a', 2)
    await sim.world.settle()
    assert.deepEqual(
      sim.records.map(({ controller }) => controller),
      ['spec', 'spec'],
    )
    sim.createWidget('b', 1, { labels: { tier: 'gold' } })
    await sim.world.settle()
    assert.deepEqual(
      sim.records
        .slice(2)
        .map(({ controller }) => controller)
        .sort(),
      ['labelled', 'spec'],
    )
  })

  it('channels and timers cause reconciles too', async () => {
    await using sim = new Simulation()
    const channel = createChannel()
    sim.createWidget('a')
    sim.start(
      operatorOf(
        () => {},
        builder => builder.channel(channel).timer(10_000),
      ),
    )
    await sim.world.settle()
    channel.send({ namespace: 'default', name: 'outside' })
    await sim.world.advance(15_000)
    assert.deepEqual(
      sim.records.map(({ key, triggers }) => `${key} ${triggers[0]!.type}`),
      ['default/a Initial', 'default/outside Channel', 'default/a Timer'],
    )
  })
})

describe('the record of a reconcile', () => {
  it('says why it ran, what it called and what that changed', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    sim.start(
      operatorOf(async ({ key, client }) => {
        const widget = (await client.get(widgetKind, key))!
        const { size } = widget.spec
        if (widget.status?.seen !== size)
          await client.updateStatus(widgetKind, { ...widget, status: { seen: size } })
      }),
    )
    await sim.world.settle()
    sim.records.length = 0
    sim.createWidget('a', 5)
    await sim.world.settle()
    const [first, second] = sim.records
    assert.deepEqual(first!.triggers[0]!.changed, [
      'metadata.generation: 1 -> 2',
      'spec.size: 1 -> 5',
      'status: {"seen":1} -> none',
    ])
    assert.equal(first!.triggers[0]!.object, 'Widget default/a')
    assert.deepEqual(
      first!.calls.map(({ verb, object, changed }) => ({ verb, object, changed })),
      [{ verb: 'update status', object: 'Widget default/a', changed: ['status: none -> {"seen":5}'] }],
    )
    assert.deepEqual(second!.triggers[0]!.changed, ['status: none -> {"seen":5}'])
    assert.deepEqual(second!.calls, [])
  })

  it('includes the first thousand calls', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    sim.start(
      operatorOf(async ({ key, client }) => {
        for (let call = 0; call < 1_100; call++) await client.get(podKind, key, { cached: false })
      }),
    )
    await sim.world.settle()
    assert.equal(sim.records[0]!.calls.length, 1_000)
  })

  it('includes failed calls', async () => {
    await using sim = new Simulation()
    sim.server.intercept = ({ method, path }) =>
      method === 'PUT' ? newConflict({ group: '', resource: 'widgets' }, path, 'no') : undefined
    sim.createWidget('a')
    sim.start(
      operatorOf(async ({ key, client }) => {
        const widget = (await client.get(widgetKind, key))!
        await client.update(widgetKind, { ...widget, spec: { size: 3 } })
      }),
    )
    await sim.world.settle()
    assert.equal(sim.records[0]!.calls[0]!.error, 'Conflict')
    assert.deepEqual(sim.warnings(), [], 'a conflict is not logged as a warning')
  })

  it('reports a hot loop and its cause', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const { manager } = sim.start(
      operatorOf(async ({ key, client, clock }) => {
        const widget = (await client.get(widgetKind, key))!
        await clock.sleep(100)
        await client.updateStatus(widgetKind, { ...widget, status: { seen: (widget.status?.seen ?? 0) + 1 } })
      }),
    )
    await sim.world.advance(60_000)
    const found = sim.logs.filter(({ message }) => message.startsWith('hot loop'))
    assert.equal(found.length, 1, 'said once')
    const { triggers } = found[0]!.fields as unknown as (typeof sim.records)[number]
    assert.match(triggers[0]!.changed![0]!, /^status.seen: \d+ -> \d+$/)
    assert.match(manager.metrics.text(), /coxswain_hot_loops_total\{controller="widget"\} 1/)
  })

  it('reports a hot loop when two controllers disagree', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const insistOn = (size: number) =>
      operatorOf(async ({ key, client, clock }) => {
        const widget = (await client.get(widgetKind, key))!
        await clock.sleep(50)
        if (widget.spec?.size !== size) await client.update(widgetKind, { ...widget, spec: { size } })
      })
    sim.start(insistOn(1))
    sim.start(insistOn(2))
    await sim.world.advance(60_000)
    assert.ok(sim.warnings().some(message => message.startsWith('hot loop')))
  })

  it('reports a hot loop when a reconcile requeues at once, or deletes what it creates', async () => {
    for (const reconcile of [
      () => requeueAfter(50),
      async ({ client, clock }: ReconcileContext) => {
        await clock.sleep(50)
        const key = { namespace: 'default', name: 'other' }
        if (await client.get(widgetKind, key)) await client.delete(widgetKind, key)
        else await client.create(widgetKind, { metadata: key, spec: { size: 1 } })
      },
    ]) {
      await using sim = new Simulation()
      sim.createWidget('a')
      const toA = () => [{ namespace: 'default', name: 'a' }]
      sim.start(operatorOf(reconcile, builder => builder.watches(widgetKind, toA)))
      await sim.world.advance(60_000)
      assert.ok(
        sim.warnings().some(message => message.startsWith('hot loop')),
        String(reconcile),
      )
    }
  })

  it('does not report a hot loop when many objects change, each in its own way', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    const toA = () => [{ namespace: 'default', name: 'a' }]
    sim.start(
      operatorOf(
        async ({ key, client }) => {
          const widget = (await client.get(widgetKind, key))!
          const { items } = await client.list(widgetKind)
          if (widget.status?.seen === items.length) return
          await client.updateStatus(widgetKind, { ...widget, status: { seen: items.length } })
        },
        builder => builder.watches(widgetKind, toA),
      ),
    )
    for (let nth = 0; nth < 100; nth++) {
      sim.createWidget(`other-${nth}`)
      await sim.world.advance(50)
    }
    assert.deepEqual(sim.warnings(), [])
  })

  it('does not report slow work, retries or timers as a hot loop', async () => {
    await using sim = new Simulation()
    sim.createWidget('slow')
    sim.createWidget('failing')
    sim.start(
      operatorOf(({ key }) => {
        if (key.name === 'failing') throw newInternalError('no')
        return requeueAfter(1_000)
      }),
    )
    await sim.world.advance(600_000)
    assert.ok(!sim.warnings().some(message => message.startsWith('hot loop')))
  })
})

describe('a finalizer', () => {
  const withFinalizer = (cleanUp: Reconciler, reconcile: Reconciler = () => {}) =>
    operatorOf(reconcile, builder => builder.finalizer('example.com/clean-up', cleanUp))

  it('is added before the first reconcile, and keeps the object until the clean-up has succeeded', async () => {
    await using sim = new Simulation()
    const seen: string[] = []
    const cleanUpCount = () => seen.filter(line => line === 'clean up').length
    let broken = true
    const operator = withFinalizer(
      () => {
        seen.push('clean up')
        if (broken) throw new Error('the outside is down')
      },
      async ({ key, client }) => {
        const widget = await client.get(widgetKind, key)
        seen.push(`reconcile ${widget ? (widget.metadata.finalizers ?? []).join() : 'deleted'}`)
      },
    )
    sim.start(operator)
    sim.createWidget('a', 1, { finalizers: ['other/one'] })
    await sim.world.settle()
    assert.ok(
      seen.length > 0 && new Set(seen).size === 1 && seen[0] === 'reconcile other/one,example.com/clean-up',
      `${seen}`,
    )
    sim.server.delete(widgetPath('a'))
    await sim.world.advance(1_000)
    assert.ok(sim.server.object(widgetPath('a')), 'it is still there')
    assert.ok(cleanUpCount() > 3, 'clean-up is tried again')
    broken = false
    await sim.world.advance(10_000)
    assert.deepEqual(sim.server.object(widgetPath('a'))?.metadata.finalizers, ['other/one'])
    const cleanUps = cleanUpCount()
    await sim.world.advance(100_000)
    assert.equal(cleanUpCount(), cleanUps, 'and not again after it has succeeded')
  })

  it('stays while the clean-up returns requeueAfter', async () => {
    await using sim = new Simulation()
    let waits = 3
    sim.start(withFinalizer(() => (waits-- > 0 ? requeueAfter(1_000) : undefined)))
    sim.createWidget('a')
    await sim.world.settle()
    sim.server.delete(widgetPath('a'))
    await sim.world.advance(2_500)
    assert.ok(sim.server.object(widgetPath('a')))
    await sim.world.advance(1_000)
    assert.equal(sim.server.object(widgetPath('a')), undefined)
  })

  it('is never lost to a crash between clean-up and its removal', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      await using sim = new Simulation({ seed })
      let outside = 0
      const operator = withFinalizer(
        async ({ clock }) => {
          await clock.sleep(20)
          outside = 0
        },
        async ({ key, client }) => {
          const widget = await client.get(widgetKind, key)
          if (!widget || widget.metadata.deletionTimestamp) return
          assert.ok(
            widget.metadata.finalizers?.length,
            'nothing is created outside before the finalizer is set',
          )
          outside = 1
        },
      )
      sim.createWidget('a')
      let running = sim.start(operator, { gracefulShutdown: 0 })
      await sim.world.advance(sim.world.random.below(30))
      if (sim.server.object(widgetPath('a'))) sim.server.delete(widgetPath('a'))
      for (let crash = 0; crash < 3; crash++) {
        await sim.world.advance(sim.world.random.below(30))
        running.stop()
        await sim.world.run(running.transport[Symbol.asyncDispose]() as Promise<void>)
        running = sim.start(operator, { gracefulShutdown: 0 })
      }
      await sim.world.advance(60_000)
      assert.equal(sim.server.object(widgetPath('a')), undefined, `seed ${seed}`)
      assert.equal(outside, 0, `seed ${seed}: something was left outside`)
    }
  })
})
