import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, Secret } from '@coxswain/api/core/v1'
import { createClient } from '@coxswain/client'
import { VirtualWorld } from '@coxswain/kit'
import { defineOperator, isRuntimeError, Manager } from '@coxswain/runtime'
import { startCluster } from './cluster.ts'

const namespace = 'default'

describe('several clusters', () => {
  /** Copies the secrets of `edge` that are labelled so to config maps at home, and says so on both sides. */
  const mirror = defineOperator('mirror', operator => {
    operator
      .controller('mirror')
      .watches(Secret, ({ metadata }) => [{ namespace, name: metadata.name }], {
        cluster: 'edge',
        predicates: [({ object }) => object.metadata.labels?.mirror === 'yes'],
      })
      .reconcile(async ({ key, client, cluster }) => {
        const edge = cluster('edge')
        const secret = await edge.get(Secret, key, { cached: false })
        const copy = await client.get(ConfigMap, key)
        if (!secret) return copy ? void (await client.delete(ConfigMap, key)) : undefined
        if (copy) return
        await client.create(ConfigMap, { metadata: { namespace, name: key.name } })
        await edge.create(ConfigMap, { metadata: { namespace, name: `${key.name}-mirrored` } })
      })
  })

  it('are watched and written by one controller, each through a cache of its own', async () => {
    const world = new VirtualWorld({ seed: 11 })
    {
      await using home = await startCluster({ env: world, controllers: false })
      await using edge = await startCluster({ env: world, controllers: false })
      const client = createClient({ transport: edge.connect(), env: world })
      home.start(mirror, { clusters: { edge: { client } } })
      await world.advance(5_000)
      const metadata = { namespace, name: 's', labels: { mirror: 'yes' } }
      await world.run(edge.client.create(Secret, { metadata }))
      await world.run(edge.client.create(Secret, { metadata: { namespace, name: 'other' } }))
      await world.run(home.client.create(Secret, { metadata: { ...metadata, name: 'at-home' } }))
      await world.advance(5_000)
      const names = async (cluster: typeof home) =>
        (await world.run(cluster.client.list(ConfigMap, { namespace }))).items.map(each => each.metadata.name)
      assert.deepEqual(await names(home), ['s'])
      assert.deepEqual(await names(edge), ['s-mirrored'])
      await world.run(edge.client.delete(Secret, { namespace, name: 's' }))
      await world.advance(5_000)
      assert.deepEqual(await names(home), [])
    }
    assert.equal(world.nextTimer, undefined, 'nothing is left behind')
  })

  it('have to be given by the host', async () => {
    await using home = await startCluster({ env: new VirtualWorld(), controllers: false })
    const manager = new Manager(mirror, { transport: home.connect(), env: home.env })
    await assert.rejects(home.run(manager.run(new AbortController().signal)), error =>
      isRuntimeError(error, 'BadDefinition'),
    )
  })
})
