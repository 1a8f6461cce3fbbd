import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { describe, it } from 'node:test'
import { ConfigMap, Namespace } from '@coxswain/api/core/v1'
import { isForbidden, isServiceUnavailable, newServiceUnavailable } from '@coxswain/apimachinery/status'
import { createClient } from '@coxswain/client'
import { createClientFromKubeconfig } from '@coxswain/client/node'
import { createLogger, silentLogger, VirtualWorld } from '@coxswain/kit'
import { defineOperator } from '@coxswain/runtime'
import { startCluster } from './cluster.ts'

const key = { namespace: 'default', name: 'a' }

/** Copies every config map that is called `a` to one that is called `b`. */
const copier = defineOperator('copier', operator => {
  operator
    .controller('copy')
    .for(ConfigMap)
    .reconcile(async ({ key: { namespace, name }, client }) => {
      const map = await client.get(ConfigMap, { namespace: namespace!, name })
      if (!map || name !== 'a' || (await client.get(ConfigMap, { namespace: namespace!, name: 'b' }))) return
      await client.create(ConfigMap, {
        metadata: { namespace: namespace!, name: 'b' },
        data: map.data ?? {},
      })
    })
})

describe('a cluster on the real clock', () => {
  it('is ready at once, and settles when an operator has done its work', async () => {
    await using cluster = await startCluster()
    cluster.start(copier)
    await cluster.client.create(ConfigMap, { metadata: key, data: { x: '1' } })
    await cluster.settle()
    assert.deepEqual((await cluster.client.get(ConfigMap, { ...key, name: 'b' }))?.data, { x: '1' })
    await assert.rejects(async () => cluster.advance(1), /VirtualWorld/)
  })

  it('deletes namespaces and collects garbage', async () => {
    await using cluster = await startCluster()
    const { client } = cluster
    await client.create(Namespace, { metadata: { name: 'team' } })
    await client.create(ConfigMap, { metadata: { ...key, namespace: 'team' } })
    await client.delete(Namespace, { name: 'team' })
    await cluster.settle()
    assert.equal(await client.get(Namespace, { name: 'team' }), undefined)
  })

  it('has no port until a kubeconfig is requested, and then one with TLS', async () => {
    let file: string
    {
      await using cluster = await startCluster()
      file = await cluster.kubeconfig()
      assert.equal(await cluster.kubeconfig(), file, 'there is one')
      assert.equal(statSync(file).mode & 0o777, 0o600)
      await using outside = await createClientFromKubeconfig({ kubeconfig: file, environment: {} })
      assert.match(outside.server, /^https:\/\/127\.0\.0\.1:\d+$/)
      await outside.client.create(ConfigMap, { metadata: key, data: { from: 'outside' } })
      assert.deepEqual((await cluster.client.get(ConfigMap, key))?.data, { from: 'outside' })
    }
    assert.equal(existsSync(file), false, 'the file goes with the cluster')
  })
})

describe('a cluster on a virtual clock', () => {
  it('settles without time passing, and does the same from the same seed', async () => {
    const play = async () => {
      const steps: string[] = []
      const world = new VirtualWorld({ seed: 9, onStep: ({ time, label }) => steps.push(`${time} ${label}`) })
      {
        await using cluster = await startCluster({ env: world })
        cluster.start(copier)
        await cluster.advance(10_000)
        const before = world.clock.now()
        await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
        await cluster.settle()
        assert.equal(world.clock.now(), before)
        assert.ok(await cluster.run(cluster.client.get(ConfigMap, { ...key, name: 'b' })))
      }
      assert.equal(world.nextTimer, undefined, 'nothing is left behind')
      return steps
    }
    assert.deepEqual(await play(), await play())
  })

  it('can be joined from outside as well', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 2 }) })
    cluster.start(copier)
    await cluster.advance(10_000)
    await using outside = await createClientFromKubeconfig({
      kubeconfig: await cluster.kubeconfig(),
      environment: {},
    })
    await outside.client.create(ConfigMap, { metadata: key })
    assert.ok(await outside.client.get(ConfigMap, { ...key, name: 'b' }), 'the operator has seen it')
  })
})

describe('a cluster for tests', () => {
  it('freezes what caches hold, unless disabled', async () => {
    for (const freeze of [true, false]) {
      await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }), freeze })
      const outcomes = new Set<string>()
      const careless = defineOperator('careless', operator => {
        operator
          .controller('careless')
          .for(ConfigMap)
          .reconcile(async ({ key: each, client }) => {
            const map = (await client.get(ConfigMap, each)) as ConfigMap | undefined
            if (!map) return
            try {
              map.metadata.labels = { changed: 'yes' }
              outcomes.add('changed')
            } catch (error) {
              outcomes.add((error as Error).name)
            }
          })
      })
      cluster.start(careless)
      await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
      await cluster.advance(5_000)
      assert.deepEqual([...outcomes], [freeze ? 'TypeError' : 'changed'])
    }
  })

  it('lets a test intercept every request to the server', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld(), controllers: false })
    const { client, run } = cluster
    {
      using _ = cluster.intercept(async (request, next) => {
        if (request.method === 'GET') return await next(request)
        const { status } = newServiceUnavailable('not today')
        const body = new TextEncoder().encode(JSON.stringify(status))
        return { status: 503, headers: { 'content-type': 'application/json' }, body }
      })
      await assert.rejects(run(client.create(ConfigMap, { metadata: key })), isServiceUnavailable)
      assert.equal(await run(client.get(ConfigMap, key)), undefined)
    }
    await run(client.create(ConfigMap, { metadata: key }))
  })

  it('is restarted on the same store: objects and versions stay, watches end, operators go on', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 6 }) })
    const { client, run } = cluster
    cluster.start(copier)
    const before = await run(client.create(ConfigMap, { metadata: { ...key, name: 'c' } }))
    await cluster.restart(5_000)
    const after = await run(client.get(ConfigMap, { ...key, name: 'c' }))
    assert.equal(after?.metadata.resourceVersion, before.metadata.resourceVersion)
    await run(client.create(ConfigMap, { metadata: key }))
    await cluster.advance(60_000)
    assert.ok(await run(client.get(ConfigMap, { ...key, name: 'b' })))
  })

  it('has other users than the administrator', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld(), controllers: false })
    const transport = cluster.connect({ name: 'jane', groups: ['devs'] })
    const jane = createClient({ transport, env: cluster.env })
    await assert.rejects(cluster.run(jane.create(ConfigMap, { metadata: key })), isForbidden)
  })
})

describe('what operators log in a test', () => {
  const failing = defineOperator('failing', operator => {
    operator
      .controller('fail')
      .for(ConfigMap)
      .reconcile(async ({ key: { name } }) => {
        if (name === key.name) throw new Error('boom')
      })
  })

  it('is printed by default: a reconcile that throws is seen, once, with its stack', async t => {
    const printed = t.mock.method(console, 'error', () => {})
    await using cluster = await startCluster({ env: new VirtualWorld() })
    cluster.start(failing)
    await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
    await cluster.advance(60_000)
    const texts = printed.mock.calls.map(({ arguments: [text] }) => String(text))
    assert.equal(texts.length, 1, texts.join('\n'))
    assert.match(
      texts[0]!,
      /^error: failing fail default\/a: reconcile failed: Error: boom\n +at .*cluster\.test\.ts/,
    )
  })

  it('goes to a logger that is given, or nowhere', async t => {
    const printed = t.mock.method(console, 'error', () => {})
    const messages: string[] = []
    for (const log of [
      silentLogger,
      createLogger(({ level, message }) => level === 'error' && messages.push(message)),
    ]) {
      await using cluster = await startCluster({ env: new VirtualWorld(), log })
      cluster.start(failing)
      await cluster.run(cluster.client.create(ConfigMap, { metadata: key }))
      await cluster.settle()
    }
    assert.equal(printed.mock.callCount(), 0)
    assert.deepEqual(messages, ['reconcile failed'])
  })
})
