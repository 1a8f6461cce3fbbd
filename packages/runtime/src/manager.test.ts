import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineOperator, describeOperator, isRuntimeError } from './index.ts'
import { podKind, Simulation, widgetKind, widgetPath } from './test-support/simulation.ts'

const idle = defineOperator('idle', operator => {
  operator
    .controller('widget')
    .for(widgetKind)
    .reconcile(() => {})
})

describe('a manager', () => {
  it('waits for a resource that is not served yet, logs it, and continues when it is', async () => {
    await using sim = new Simulation()
    sim.server.absent.add('widgets')
    const { manager } = sim.start(idle)
    await sim.world.advance(65_000)
    const warnings = sim.logs.filter(({ message }) => message.startsWith('still waiting'))
    assert.equal(warnings.length, 3, 'after three seconds, then every thirty')
    const reason = 'the server does not serve it: is its CustomResourceDefinition installed?'
    const { missing, reason: logged } = warnings[0]!.fields
    assert.deepEqual([missing, logged], ['widgets.v1.example.com', reason])
    assert.equal((await manager.checkReady()).ok, false)
    assert.equal((await manager.checkHealth()).ok, true)
    sim.createWidget('a')
    sim.server.absent.delete('widgets')
    await sim.world.advance(2_000)
    assert.equal(sim.records.length, 1, 'within two seconds')
    assert.equal((await manager.checkReady()).ok, true)
  })

  it('fails when caches do not sync within the timeout of the host', async () => {
    await using sim = new Simulation()
    sim.server.absent.add('widgets')
    const { stopped } = sim.start(idle, { cacheSyncTimeout: 120_000 })
    const error = await sim.world.run(stopped.catch(failure => failure))
    assert.ok(isRuntimeError(error, 'CacheNotSynced'))
    assert.equal(sim.world.clock.monotonic(), 120_000)
  })

  it('lets reconciles finish when it stops, and starts no more', async () => {
    await using sim = new Simulation()
    const log: string[] = []
    const operator = defineOperator('slow', builder => {
      builder
        .controller('widget')
        .for(widgetKind)
        .reconcile(async ({ key, client, clock }) => {
          log.push(`begin ${key.name}`)
          await clock.sleep(10_000)
          await client.updateStatus(widgetKind, {
            ...(await client.get(widgetKind, key))!,
            status: { phase: 'done' },
          })
          log.push(`end ${key.name}`)
        })
    })
    sim.createWidget('a')
    sim.createWidget('b')
    const { stop, stopped } = sim.start(operator)
    await sim.world.advance(1_000)
    stop()
    await sim.world.run(stopped)
    assert.equal(log.length, 2)
    assert.equal(log[0]!.replace('begin', 'end'), log[1])
    assert.equal(sim.world.clock.monotonic(), 10_000)
  })

  it('aborts reconciles that do not finish within the grace period', async () => {
    await using sim = new Simulation()
    const operator = defineOperator('slow', builder => {
      builder
        .controller('widget')
        .for(widgetKind)
        .reconcile(({ clock, signal }) => clock.sleep(3_600_000, { signal }))
    })
    sim.createWidget('a')
    const { stop, stopped } = sim.start(operator)
    await sim.world.advance(1_000)
    stop()
    await sim.world.run(stopped)
    assert.equal(sim.world.clock.monotonic(), 31_000)
    assert.deepEqual(sim.warnings(), [], 'an abort is not an error')
  })

  it('rejects when something does not stop at all', async () => {
    await using sim = new Simulation()
    const operator = defineOperator('deaf', builder => {
      builder
        .controller('widget')
        .for(widgetKind)
        .reconcile(() => new Promise(() => {}))
    })
    sim.createWidget('a')
    const { stop, stopped } = sim.start(operator)
    await sim.world.advance(1_000)
    stop()
    const error = await sim.world.run(stopped.catch(failure => failure))
    assert.ok(isRuntimeError(error, 'ShutdownTimeout'))
  })

  it('fails when a task fails, and stops everything else first', async () => {
    await using sim = new Simulation()
    const stoppedTasks: string[] = []
    const operator = defineOperator('tasks', builder => {
      builder.task('bad', async ({ env }) => {
        await env.clock.sleep(5_000)
        throw new Error('cannot continue')
      })
      builder.task('good', async ({ env, signal }) => {
        await env.clock.sleep(60_000, { signal }).catch(() => {})
        stoppedTasks.push('good')
      })
    })
    const { stopped } = sim.start(operator)
    const error = await sim.world.run(stopped.catch(failure => failure))
    assert.equal((error as Error).message, 'cannot continue')
    assert.deepEqual(stoppedTasks, ['good'])
  })

  it('survives lost watches and compaction without a restart', async () => {
    await using sim = new Simulation()
    sim.createWidget('a')
    sim.start(idle)
    await sim.world.settle()
    sim.server.compact()
    sim.createWidget('b')
    sim.server.compact()
    await sim.world.advance(60_000)
    assert.deepEqual(sim.records.map(({ key }) => key).sort(), ['default/a', 'default/b'])
  })

  it('can be stopped before it has started', async () => {
    await using sim = new Simulation()
    sim.server.absent.add('widgets')
    const { stop, stopped } = sim.start(idle)
    stop()
    await sim.world.run(stopped)
    assert.equal(sim.records.length, 0)
  })

  it('reports the checks of the operator', async () => {
    await using sim = new Simulation()
    const operator = defineOperator('checks', builder => {
      builder.healthCheck('outside', () => {
        throw new Error('down')
      })
      builder.readyCheck('warm', async () => {})
    })
    const { manager } = sim.start(operator)
    await sim.world.settle()
    const health = await manager.checkHealth()
    assert.deepEqual(
      health.checks.map(({ name, ok }) => `${name} ${ok}`),
      ['ping true', 'outside false'],
    )
    assert.equal(health.ok, false)
    assert.equal((await manager.checkReady()).ok, true)
  })
})

describe('a definition', () => {
  it('is data: kinds, roles and names can be read without running anything', () => {
    const operator = defineOperator('data', builder => {
      builder
        .controller('widget')
        .for(widgetKind)
        .owns(podKind)
        .reconcile(() => {})
    })
    const { controllers } = describeOperator(operator)
    assert.deepEqual(
      controllers[0]!.sources.map(({ role, kind }) => `${role} ${kind.kind}`),
      ['for Widget', 'owns Pod'],
    )
  })

  it('is rejected when it is inconsistent', () => {
    const refused = (setup: Parameters<typeof defineOperator>[1]) =>
      assert.throws(() => describeOperator(defineOperator('x', setup)), { code: 'BadDefinition' })
    refused(operator => void operator.controller('a').for(widgetKind))
    refused(operator =>
      operator
        .controller('a')
        .owns(podKind)
        .reconcile(() => {}),
    )
    refused(operator => void operator.controller('a').for(widgetKind).for(podKind))
    refused(operator => {
      for (let i = 0; i < 2; i++) {
        operator
          .controller('a')
          .for(widgetKind)
          .reconcile(() => {})
      }
    })
  })

  it('is set up for each host: state inside setup is not shared', async () => {
    await using sim = new Simulation()
    const counts: number[] = []
    const operator = defineOperator('state', builder => {
      let count = 0
      builder
        .controller('widget')
        .for(widgetKind)
        .reconcile(() => void counts.push(++count))
    })
    sim.createWidget('a')
    sim.start(operator)
    sim.start(operator)
    await sim.world.settle()
    assert.deepEqual(counts, [1, 1])
    assert.ok(sim.server.object(widgetPath('a')))
  })
})
