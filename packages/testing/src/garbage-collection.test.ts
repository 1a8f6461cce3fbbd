import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, Event, Namespace, Secret, ServiceAccount } from '@coxswain/api/core/v1'
import type { Client } from '@coxswain/client'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from './cluster.ts'

type Owner = {
  readonly name: string
  readonly uid: string
  readonly kind?: string
  readonly blocking?: boolean
}

const namespace = 'default'

async function makeMap(
  cluster: Cluster,
  name: string,
  owners: readonly Owner[] = [],
  finalizers: string[] = [],
) {
  const ownerReferences = owners.map(({ name: owner, uid, kind = 'ConfigMap', blocking }) => ({
    apiVersion: 'v1',
    kind,
    name: owner,
    uid,
    ...(blocking && { blockOwnerDeletion: true }),
  }))
  const made = await cluster.run(
    cluster.client.create(ConfigMap, { metadata: { namespace, name, ownerReferences, finalizers } }),
  )
  return { name, uid: made.metadata.uid }
}

const exists = async (cluster: Cluster, name: string) =>
  (await cluster.run(cluster.client.get(ConfigMap, { namespace, name }))) !== undefined

const remove = (cluster: Cluster, name: string, options?: Parameters<Client['delete']>[2]) =>
  cluster.run(cluster.client.delete(ConfigMap, { namespace, name }, options))

/** Long enough for discovery, queues and retries. */
const aWhile = 30_000

for (const seed of [1, 2, 3]) {
  describe(`the garbage collector, seed ${seed}`, () => {
    const start = async () => {
      const cluster = await startCluster({ env: new VirtualWorld({ seed }) })
      await cluster.advance(aWhile)
      return cluster
    }

    it('deletes dependents, and theirs, after their owner', async () => {
      await using cluster = await start()
      const owner = await makeMap(cluster, 'owner')
      const child = await makeMap(cluster, 'child', [owner])
      await makeMap(cluster, 'grandchild', [child])
      await makeMap(cluster, 'stranger')
      await remove(cluster, 'owner')
      await cluster.advance(aWhile)
      assert.equal(await exists(cluster, 'child'), false)
      assert.equal(await exists(cluster, 'grandchild'), false)
      assert.equal(await exists(cluster, 'stranger'), true)
    })

    it('keeps what another owner still holds, and drops the reference to the one that is gone', async () => {
      await using cluster = await start()
      const first = await makeMap(cluster, 'first')
      const second = await makeMap(cluster, 'second')
      await makeMap(cluster, 'child', [first, second])
      await remove(cluster, 'first')
      await cluster.advance(aWhile)
      const child = await cluster.run(cluster.client.get(ConfigMap, { namespace, name: 'child' }))
      assert.deepEqual(
        child?.metadata.ownerReferences?.map(({ name }) => name),
        ['second'],
      )
      await remove(cluster, 'second')
      await cluster.advance(aWhile)
      assert.equal(await exists(cluster, 'child'), false)
    })

    it('lets dependents go when the owner is deleted as an orphan', async () => {
      await using cluster = await start()
      const owner = await makeMap(cluster, 'owner')
      await makeMap(cluster, 'child', [owner])
      await remove(cluster, 'owner', { propagationPolicy: 'Orphan' })
      await cluster.advance(aWhile)
      assert.equal(await exists(cluster, 'owner'), false)
      const child = await cluster.run(cluster.client.get(ConfigMap, { namespace, name: 'child' }))
      assert.deepEqual(child?.metadata.ownerReferences ?? [], [])
    })

    it('holds a foreground-deleted owner until its blocking dependents are gone', async () => {
      await using cluster = await start()
      const owner = await makeMap(cluster, 'owner')
      await makeMap(cluster, 'child', [{ ...owner, blocking: true }], ['example.com/wait'])
      await remove(cluster, 'owner', { propagationPolicy: 'Foreground' })
      await cluster.advance(aWhile)
      assert.equal(await exists(cluster, 'owner'), true, 'its dependent still waits for its finalizer')
      const child = await cluster.run(cluster.client.get(ConfigMap, { namespace, name: 'child' }))
      assert.ok(child?.metadata.deletionTimestamp)
      await cluster.run(
        cluster.client.patch(
          ConfigMap,
          { namespace, name: 'child' },
          { metadata: { finalizers: null } },
          { type: 'merge' },
        ),
      )
      await cluster.advance(aWhile)
      assert.equal(await exists(cluster, 'child'), false)
      assert.equal(await exists(cluster, 'owner'), false)
    })

    it('deletes what names an owner that never was', async () => {
      await using cluster = await start()
      await makeMap(cluster, 'child', [{ name: 'nobody', uid: '12345678-1234-1234-1234-123456789012' }])
      await cluster.advance(aWhile)
      assert.equal(await exists(cluster, 'child'), false)
    })

    it('is not fooled by another object under the name of the owner', async () => {
      await using cluster = await start()
      const owner = await makeMap(cluster, 'owner')
      await makeMap(cluster, 'child', [owner])
      await remove(cluster, 'owner', { propagationPolicy: 'Background' })
      await makeMap(cluster, 'owner')
      await cluster.advance(aWhile)
      assert.equal(await exists(cluster, 'owner'), true)
      assert.equal(await exists(cluster, 'child'), false)
    })

    it('lets a cluster-scoped object own namespaced ones, and not the other way round', async () => {
      await using cluster = await start()
      const owner = await makeMap(cluster, 'owner')
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner.name, uid: owner.uid }
      const named = { metadata: { name: 'outside', ownerReferences: [reference] } }
      await cluster.run(cluster.client.create(Namespace, named))
      await cluster.advance(aWhile)
      assert.ok(await cluster.run(cluster.client.get(Namespace, { name: 'outside' })), 'it is not deleted')
      const events = await cluster.run(cluster.client.list(Event, {}))
      assert.ok(events.items.some(({ reason }) => reason === 'OwnerRefInvalidNamespace'))
    })
  })
}

describe('the namespace controller', () => {
  it('empties a namespace of everything, then lets it go', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 5 }) })
    const { client, run } = cluster
    await run(client.create(Namespace, { metadata: { name: 'team' } }))
    await cluster.advance(aWhile)
    await run(
      client.create(ConfigMap, {
        metadata: { namespace: 'team', name: 'a', finalizers: ['example.com/wait'] },
      }),
    )
    await run(client.create(Secret, { metadata: { namespace: 'team', name: 's' } }))
    await run(client.delete(Namespace, { name: 'team' }))
    await cluster.advance(aWhile)
    const waiting = await run(client.get(Namespace, { name: 'team' }))
    assert.equal(waiting?.status?.phase, 'Terminating')
    const remaining = waiting?.status?.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')
    assert.match(remaining?.message ?? '', /example.com\/wait in 1 resource instances/)
    assert.equal(await run(client.get(Secret, { namespace: 'team', name: 's' })), undefined)
    await assert.rejects(
      run(client.create(ConfigMap, { metadata: { namespace: 'team', name: 'b' } })),
      /being terminated/,
    )

    await run(
      client.patch(
        ConfigMap,
        { namespace: 'team', name: 'a' },
        { metadata: { finalizers: null } },
        { type: 'merge' },
      ),
    )
    await cluster.advance(aWhile)
    assert.equal(await run(client.get(Namespace, { name: 'team' })), undefined)
  })

  it('gives a new namespace its default account', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld() })
    const { client, run } = cluster
    await run(client.create(Namespace, { metadata: { name: 'team' } }))
    await cluster.advance(aWhile)
    assert.ok(await run(client.get(ServiceAccount, { namespace: 'team', name: 'default' })))
  })
})
