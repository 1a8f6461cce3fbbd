import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dryRun, namespaced } from '@coxswain/client'
import { defineOperator, type OperatorBuilder, type OperatorClient } from './index.ts'
import {
  podKind,
  podPath,
  Simulation,
  type SimulationOptions,
  secretKind,
  widgetKind,
  widgetPath,
} from './test-support/simulation.ts'

const key = { namespace: 'default', name: 'a' }

/** Runs `script` in an operator, in the virtual world. */
async function inOperator(
  script: (client: OperatorClient, sim: Simulation) => Promise<void>,
  options: {
    readonly setup?: (operator: OperatorBuilder) => void
    readonly manager?: SimulationOptions['manager']
    readonly before?: (sim: Simulation) => void
  } = {},
): Promise<Simulation> {
  await using sim = new Simulation()
  options.before?.(sim)
  let done = false
  const operator = defineOperator('test', builder => {
    options.setup?.(builder)
    builder.task('script', async ({ client }) => {
      await script(client, sim)
      done = true
    })
  })
  const { stopped } = sim.start(operator, options.manager)
  let failure: unknown
  stopped.catch(error => {
    failure = error
  })
  await sim.world.runUntil(() => done || failure !== undefined, 600_000)
  if (failure) throw failure
  return sim
}

const gets = (sim: Simulation): string[] =>
  sim.server.calls
    .filter(({ method, path }) => method === 'GET' && /\/(a|s)$/.test(path))
    .map(({ path }) => path)

describe('a read after a write', () => {
  it('sees a creation, an update and a deletion before the watch delivers them', async () => {
    const sim = await inOperator(async (client, { server, world }) => {
      await client.list(widgetKind)
      server.holdWatches()
      await client.create(widgetKind, { metadata: key, spec: { size: 1 } })
      const created = await client.get(widgetKind, key)
      assert.equal(created?.spec.size, 1)
      assert.equal((await client.list(widgetKind)).items.length, 1)
      await client.update(widgetKind, { ...created!, spec: { size: 2 } })
      await client.updateStatus(widgetKind, {
        ...(await client.get(widgetKind, key))!,
        status: { phase: 'x' },
      })
      const updated = await client.get(widgetKind, key)
      assert.deepEqual([updated?.spec.size, updated?.status?.phase], [2, 'x'])
      await client.patch(widgetKind, key, { spec: { size: 3 } })
      assert.equal((await client.get(widgetKind, key))?.spec.size, 3)
      await client.delete(widgetKind, key)
      assert.equal(await client.get(widgetKind, key), undefined)
      assert.deepEqual((await client.list(widgetKind)).items, [])
      server.releaseWatches()
      await world.clock.sleep(1_000)
      assert.equal(await client.get(widgetKind, key), undefined)
    })
    assert.deepEqual(gets(sim), [], 'without a request')
  })

  it('sees that an object is being deleted, and that it is deleted when another client removes the finalizer', async () => {
    await inOperator(
      async (client, { server, world }) => {
        await client.get(widgetKind, key)
        server.holdWatches()
        await client.delete(widgetKind, key)
        assert.ok((await client.get(widgetKind, key))?.metadata.deletionTimestamp)
        const held = server.object(widgetPath('a'))!
        server.put(widgetPath('a'), { ...held, metadata: { ...held.metadata, finalizers: [] } })
        server.releaseWatches()
        await world.clock.sleep(1)
        assert.equal(await client.get(widgetKind, key), undefined)
      },
      { before: sim => sim.createWidget('a', 1, { finalizers: ['x/y'] }) },
    )
  })

  it('sees later writes of others', async () => {
    await inOperator(
      async (client, sim) => {
        const widget = (await client.get(widgetKind, key))!
        await client.update(widgetKind, { ...widget, spec: { size: 2 } })
        sim.createWidget('a', 9)
        await sim.world.clock.sleep(1)
        assert.equal((await client.get(widgetKind, key))?.spec.size, 9)
        await client.update(widgetKind, { ...(await client.get(widgetKind, key))!, spec: { size: 10 } })
        sim.server.delete(widgetPath('a'))
        await sim.world.clock.sleep(1)
        assert.equal(await client.get(widgetKind, key), undefined, 'deleted by others after our write')
      },
      { before: sim => sim.createWidget('a') },
    )
  })

  it('finds own writes by index and label before the watch delivers them', async () => {
    await inOperator(
      async (client, { server }) => {
        await client.list(widgetKind)
        server.holdWatches()
        await client.create(widgetKind, { metadata: { ...key, labels: { tier: 'gold' } }, spec: { size: 7 } })
        const names = async (options: Parameters<typeof client.list>[1]) =>
          (await client.list(widgetKind, options)).items.map(({ metadata }) => metadata.name)
        assert.deepEqual(await names({ fields: { 'spec.size': '7' } }), ['a'])
        assert.deepEqual(await names({ fields: { 'spec.size': '8' } }), [])
        assert.deepEqual(await names({ labelSelector: 'tier in (gold, silver)' }), ['a'])
        assert.deepEqual(await names({ labelSelector: '!tier' }), [])
        assert.deepEqual(await names({ namespace: 'other' }), [])
        await assert.rejects(names({ fields: { 'spec.color': 'red' } }), { code: 'NoIndex' })
      },
      { setup: operator => operator.index(widgetKind, 'spec.size', widget => [String(widget.spec.size)]) },
    )
  })

  it('keeps nothing of a dry run', async () => {
    await inOperator(async client => {
      await client.list(widgetKind)
      await client.create(widgetKind, { metadata: key, spec: { size: 1 } }, { dryRun: true })
      assert.equal(await client.get(widgetKind, key), undefined)
    })
  })
})

describe('the cache', () => {
  it('is shared and frozen in tests', async () => {
    await inOperator(
      async client => {
        const widget = (await client.get(widgetKind, key))!
        assert.equal(widget, await client.get(widgetKind, key))
        assert.throws(() => {
          ;(widget.spec as { size: number }).size = 2
        }, TypeError)
        const written = await client.update(widgetKind, { ...widget, spec: { size: 2 } })
        assert.throws(() => {
          ;(written.spec as { size: number }).size = 3
        }, TypeError)
      },
      { before: sim => sim.createWidget('a') },
    )
  })

  it('can be bypassed per call', async () => {
    const sim = await inOperator(
      async client => {
        assert.ok(await client.get(widgetKind, key, { cached: false }))
        assert.equal((await client.list(widgetKind, { cached: false })).items.length, 1)
      },
      { before: simulation => simulation.createWidget('a') },
    )
    assert.deepEqual(gets(sim), [widgetPath('a')])
    assert.equal(sim.server.calls.length, 2, 'and no watch is started for it')
  })

  it('holds no Secrets: they are read from the server, and watched without their data', async () => {
    const sim = await inOperator(
      async client => {
        assert.ok(await client.get(secretKind, { namespace: 'default', name: 's' }))
      },
      {
        setup: operator =>
          operator
            .controller('secrets')
            .for(secretKind)
            .reconcile(() => {}),
        before: ({ server }) =>
          server.put('/api/v1/namespaces/default/secrets/s', {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 's' },
            data: {},
          }),
      },
    )
    assert.equal(gets(sim).length, 1)
    assert.deepEqual(
      sim.records.map(record => record.key),
      ['default/s'],
    )
  })

  it('can be disabled per kind, and can hold whole Secrets', async () => {
    const sim = await inOperator(
      async client => {
        const secret = await client.get(secretKind, { namespace: 'default', name: 's' })
        assert.deepEqual((secret as { data?: unknown } | undefined)?.data, { a: 'b' })
        assert.ok(await client.get(widgetKind, key))
      },
      {
        setup: operator => {
          operator.cache(secretKind, { metadataOnly: false, labelSelector: 'app=x' })
          operator.cache(widgetKind, { uncached: true })
        },
        before: simulation => {
          simulation.createWidget('a')
          simulation.server.put('/api/v1/namespaces/default/secrets/s', {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 's' },
            data: { a: 'b' },
          })
        },
      },
    )
    assert.deepEqual(gets(sim), [widgetPath('a')], 'the Secret came by the watch')
  })

  it('fails the first read after two minutes without a sync', async () => {
    await using sim = new Simulation()
    sim.server.absent.add('widgets')
    const operator = defineOperator('test', builder => {
      builder.task('reader', async ({ client }) => void (await client.get(widgetKind, key)))
    })
    const { stopped } = sim.start(operator)
    const error = await sim.world.run(stopped.catch(failure => failure))
    assert.equal((error as { code?: string }).code, 'CacheNotSynced')
    assert.equal(sim.world.clock.monotonic(), 120_000)
  })

  it('keeps transformed objects, own writes too, and answers to writes are complete', async () => {
    await inOperator(
      async (client, { server }) => {
        const found = await client.get(widgetKind, key)
        assert.deepEqual(found?.spec, { size: 1 })
        assert.equal(found?.metadata.annotations, undefined)
        server.holdWatches()
        const changed = { metadata: { annotations: { large: 'y' } } }
        const answer = await client.patch(widgetKind, key, changed)
        assert.deepEqual(answer.metadata.annotations, { large: 'y' })
        const again = await client.get(widgetKind, key)
        assert.equal(again?.metadata.resourceVersion, answer.metadata.resourceVersion, 'it is the own write')
        assert.equal(again?.metadata.annotations, undefined)
        server.releaseWatches()
      },
      {
        setup: operator =>
          operator.cache(widgetKind, {
            transform: widget => {
              delete widget.metadata.annotations
              return widget
            },
          }),
        before: sim => sim.createWidget('a', 1, { annotations: { large: 'x' } }),
      },
    )
  })

  it('serves wrappers of the client too, and their changed writes, those of `direct` included', async () => {
    const sim = await inOperator(
      async client => {
        const careful = dryRun(namespaced(client, 'default'))
        assert.ok(await careful.get(widgetKind, { name: 'a' }))
        await careful.create(widgetKind, { metadata: { name: 'b' }, spec: { size: 1 } })
        await careful.direct.create(widgetKind, { metadata: { name: 'c' }, spec: { size: 1 } })
        assert.equal((await careful.list(widgetKind)).items.length, 1)
      },
      { before: simulation => simulation.createWidget('a') },
    )
    assert.deepEqual(gets(sim), [], 'the read was answered by the cache')
    assert.equal(sim.server.writes().length, 2)
    assert.equal(sim.server.object(widgetPath('b')) ?? sim.server.object(widgetPath('c')), undefined)
  })

  it('has options per namespace of a kind, and defaults for kinds without options', async () => {
    const sim = await inOperator(
      async client => {
        const pods = await client.list(podKind)
        assert.deepEqual(pods.items.map(({ metadata }) => metadata.namespace).sort(), ['one', 'two'])
        assert.deepEqual((await client.list(widgetKind)).items, [])
        assert.ok(await client.get(widgetKind, key), 'what is not cached is read from the server')
      },
      {
        manager: { namespaces: ['default', 'two'] },
        setup: operator => {
          operator.cacheDefaults({ namespaces: ['elsewhere'], labelSelector: 'team=a' })
          operator.cache(podKind, {
            namespaces: { one: { labelSelector: 'app=x' }, two: { fieldSelector: 'status.phase=Running' } },
          })
        },
        before: ({ server }) => {
          for (const namespace of ['default', 'one', 'two'])
            server.put(podPath('a').replace('default', namespace), {
              apiVersion: 'v1',
              kind: 'Pod',
              metadata: { name: 'a' },
            })
          server.put(widgetPath('a'), {
            apiVersion: 'example.com/v1',
            kind: 'Widget',
            metadata: { name: 'a' },
          })
        },
      },
    )
    const watched = sim.server.calls
      .filter(({ method, query }) => method === 'GET' && query.includes('Selector'))
      .map(
        ({ path, query }) => `${path} ${decodeURIComponent(query).match(/(?:label|field)Selector=[^&]*/g)}`,
      )
    assert.deepEqual([...new Set(watched)].sort(), [
      '/api/v1/namespaces/one/pods labelSelector=app=x',
      '/api/v1/namespaces/two/pods labelSelector=team=a,fieldSelector=status.phase=Running',
      '/apis/example.com/v1/namespaces/elsewhere/widgets labelSelector=team=a',
    ])
  })

  it('can be limited to some namespaces', async () => {
    const sim = await inOperator(
      async client => {
        const pods = await client.list(podKind)
        assert.deepEqual(pods.items.map(({ metadata }) => metadata.namespace).sort(), ['default', 'two'])
        assert.ok(await client.get(podKind, { namespace: 'two', name: 'a' }))
        assert.ok(
          await client.get(podKind, { namespace: 'three', name: 'a' }),
          'others are read from the server',
        )
        assert.equal((await client.list(podKind, { namespace: 'two' })).items.length, 1)
      },
      {
        manager: { namespaces: ['default', 'two'] },
        before: ({ server }) => {
          for (const namespace of ['default', 'two', 'three']) {
            server.put(podPath('a').replace('default', namespace), {
              apiVersion: 'v1',
              kind: 'Pod',
              metadata: { name: 'a' },
            })
          }
        },
      },
    )
    assert.ok(sim.server.calls.every(({ path }) => path.includes('/namespaces/')))
  })
})
