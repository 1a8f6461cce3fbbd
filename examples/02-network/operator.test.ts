import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { CustomResourceDefinition } from '@coxswain/api/apiextensions/v1'
import { Event } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { findStatusCondition, toCustomResourceDefinition, waitFor } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import { createHttpNetworkApi } from './network-api.ts'
import { NetworkInventory, serveNetworks } from './network-service.ts'
import { createNetworkOperator, finalizer, Network } from './operator.ts'

const key = { namespace: 'default', name: 'example-network' }
const spec = { cidr: '192.168.0.0/16', gateway: '192.168.0.1' }

/** A cluster on a clock of its own, a network service in memory, and the operator between them. */
async function launch(seed = 1) {
  const cluster = await startCluster({ env: new VirtualWorld({ seed }) })
  const { client, run } = cluster
  const inventory = new NetworkInventory()
  await run(client.create(CustomResourceDefinition, toCustomResourceDefinition(Network)))
  const stop = cluster.start(createNetworkOperator(inventory))
  await cluster.settle()
  return {
    cluster,
    inventory,
    stop,
    create: (given = spec) => run(client.create(Network.v1, { metadata: key, spec: given })),
    change: (changed: Partial<typeof spec>) =>
      run(client.patch(Network.v1, key, { spec: changed }, { type: 'merge' })),
    network: () => run(client.get(Network.v1, key)),
    async ready() {
      const conditions = (await this.network())?.status?.conditions
      const { status, reason } = findStatusCondition(conditions, 'Ready') ?? {}
      return `${status} ${reason}`
    },
    /** What is outside, and nothing else is. */
    outside: () => [...inventory.networks.values()].map(({ cidr, gateway }) => `${cidr} ${gateway}`),
    async reasons() {
      const { items } = await run(client.list(Event, { namespace: 'default' }))
      return items.map(({ reason }) => reason).sort()
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

describe('the network operator', () => {
  it('makes a network outside and says which', async () => {
    await using world = await launch()
    await world.create()
    await world.cluster.advance(1_000)
    assert.deepEqual(world.outside(), ['192.168.0.0/16 192.168.0.1'])
    assert.equal((await world.network())?.status?.id, 'net-1')
    assert.equal(await world.ready(), 'True AsWanted')
    assert.deepEqual((await world.network())?.metadata.finalizers, [finalizer])
    assert.deepEqual(await world.reasons(), ['Created'])
  })

  it('changes what is changed, in place', async () => {
    await using world = await launch()
    await world.create()
    await world.cluster.advance(1_000)
    await world.change({ gateway: '192.168.255.254' })
    await world.cluster.advance(1_000)
    assert.deepEqual(world.outside(), ['192.168.0.0/16 192.168.255.254'])
    assert.equal((await world.network())?.status?.id, 'net-1')
  })

  it('deletes the outside network before the object goes', async () => {
    await using world = await launch()
    const { client, run, advance } = world.cluster
    await world.create()
    await advance(1_000)
    await run(client.delete(Network.v1, key))
    await advance(1_000)
    assert.deepEqual(world.outside(), [])
    assert.equal(await world.network(), undefined)
  })

  it('undoes what others do outside, at the next resync', async () => {
    await using world = await launch()
    const { advance } = world.cluster
    await world.create()
    await advance(1_000)
    await world.inventory.update('net-1', { name: 'mine now', cidr: '10.0.0.0/8', gateway: '10.0.0.1' })
    await advance(100_000)
    assert.deepEqual(world.outside(), ['10.0.0.0/8 10.0.0.1'], 'nothing tells it earlier')
    await advance(300_000)
    assert.deepEqual(world.outside(), ['192.168.0.0/16 192.168.0.1'])

    await world.inventory.delete('net-1')
    await advance(400_000)
    assert.deepEqual(world.outside(), ['192.168.0.0/16 192.168.0.1'], 'it was made again')
    assert.equal((await world.network())?.status?.id, 'net-2')
  })

  it('leaves alone what is as it should be', async () => {
    await using world = await launch()
    await world.create()
    await world.cluster.advance(3_000_000)
    assert.deepEqual(world.inventory.changes, ['create net-1 192.168.0.0/16 192.168.0.1'])
  })

  it('waits for an API that is down, says so once, and goes on when it is back', async () => {
    await using world = await launch()
    const { advance } = world.cluster
    world.inventory.isDown = true
    await world.create()
    await advance(600_000)
    assert.equal(await world.ready(), 'Unknown OutsideUnavailable')
    assert.deepEqual(await world.reasons(), ['OutsideUnavailable'])
    world.inventory.isDown = false
    await advance(11_000)
    assert.equal(await world.ready(), 'True AsWanted')
    assert.deepEqual(world.outside(), ['192.168.0.0/16 192.168.0.1'])
  })

  it('holds a deleted object while the API is down: nothing leaks outside', async () => {
    await using world = await launch()
    const { client, run, advance } = world.cluster
    await world.create()
    await advance(1_000)
    world.inventory.isDown = true
    await run(client.delete(Network.v1, key))
    await advance(600_000)
    assert.ok(await world.network())
    assert.deepEqual(world.outside(), ['192.168.0.0/16 192.168.0.1'])
    world.inventory.isDown = false
    await advance(11_000)
    assert.equal(await world.network(), undefined)
    assert.deepEqual(world.outside(), [])
  })

  it('says what the outside refuses, and takes it when it is mended', async () => {
    await using world = await launch()
    await world.create({ cidr: '192.168.0.0/16', gateway: '10.0.0.1' })
    await world.cluster.advance(60_000)
    assert.equal(await world.ready(), 'False Refused')
    assert.deepEqual(await world.reasons(), ['Refused'])
    await world.change({ gateway: '192.168.0.1' })
    await world.cluster.advance(1_000)
    assert.equal(await world.ready(), 'True AsWanted')
  })

  it('makes no second network and leaves none behind, however often and whenever it crashes', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      await using world = await launch(seed)
      const { client, run, advance, env } = world.cluster
      let { stop } = world
      const crash = async () => {
        await advance(env.random.below(10))
        await stop()
        stop = world.cluster.start(createNetworkOperator(world.inventory), { gracefulShutdown: 0 })
      }
      await world.create()
      for (let i = 0; i < 3; i++) await crash()
      await advance(60_000)
      assert.deepEqual(world.outside(), ['192.168.0.0/16 192.168.0.1'], `seed ${seed}`)
      await run(client.delete(Network.v1, key))
      for (let i = 0; i < 3; i++) await crash()
      await advance(60_000)
      assert.deepEqual(world.outside(), [], `seed ${seed}`)
      assert.equal(await world.network(), undefined, `seed ${seed}`)
      assert.equal(world.inventory.changes.length, 2, `seed ${seed}`)
    }
  })

  it('does the same with a service behind a socket', async () => {
    const inventory = new NetworkInventory()
    await using service = await serveNetworks(inventory)
    await using cluster = await startCluster()
    const { client, env } = cluster
    await client.create(CustomResourceDefinition, toCustomResourceDefinition(Network))
    cluster.start(createNetworkOperator(createHttpNetworkApi(service.url)))
    const target = { kind: Network.v1, key }
    await client.create(Network.v1, { metadata: key, spec })
    await waitFor(client, env, target, network => network?.status?.id === 'net-1')
    await client.patch(Network.v1, key, { spec: { gateway: '192.168.0.2' } }, { type: 'merge' })
    await waitFor(client, env, target, network => {
      const ready = findStatusCondition(network?.status?.conditions, 'Ready')
      return ready?.observedGeneration === 2
    })
    assert.equal(inventory.networks.get('net-1')?.gateway, '192.168.0.2')
    await client.delete(Network.v1, key)
    await waitFor(client, env, target, network => network === undefined)
    assert.equal(inventory.networks.size, 0)
  })

  it('ships the definition that its kind gives', () => {
    const shipped = readYaml(readFileSync(new URL('./crd.yaml', import.meta.url)))
    assert.deepEqual(shipped?.value, JSON.parse(JSON.stringify(toCustomResourceDefinition(Network))))
  })
})
