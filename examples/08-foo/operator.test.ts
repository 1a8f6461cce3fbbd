import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Deployment } from '@coxswain/api/apps/v1'
import { Event } from '@coxswain/api/core/v1'
import { readYaml } from '@coxswain/apimachinery/yaml'
import { toCustomResourceDefinition } from 'coxswain'
import { startCluster, VirtualWorld } from 'coxswain/testing'
import operator, { Foo } from './operator.ts'

const key = { namespace: 'default', name: 'example-foo' }

async function launch() {
  const cluster = await startCluster({ env: new VirtualWorld({ seed: 1 }) })
  const { client, run } = cluster
  await cluster.install(operator)
  cluster.start(operator)
  await cluster.advance(1_000)
  return {
    ...cluster,
    create: (spec: { deploymentName?: string; replicas?: number }) =>
      run(client.create(Foo.v1alpha1, { metadata: key, spec })),
    foo: () => run(client.get(Foo.v1alpha1, key)),
    deployment: () => run(client.get(Deployment, key)),
    async reasons() {
      const { items } = await run(client.list(Event, { namespace: 'default' }))
      return items.filter(({ involvedObject }) => involvedObject.kind === 'Foo').map(({ reason }) => reason)
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

describe('the foo operator', () => {
  it('makes a Deployment of the given name and size', async () => {
    await using cluster = await launch()
    await cluster.create({ deploymentName: key.name, replicas: 2 })
    await cluster.advance(1_000)
    const deployment = await cluster.deployment()
    assert.equal(deployment?.spec?.replicas, 2)
    assert.equal(deployment.metadata.ownerReferences?.[0]?.kind, 'Foo')
    assert.equal((await cluster.foo())?.status?.availableReplicas, 0)
  })

  it('shows how many replicas are available', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create({ deploymentName: key.name, replicas: 2 })
    await cluster.advance(1_000)
    const deployment = (await cluster.deployment())!
    const status = { replicas: 2, readyReplicas: 2, availableReplicas: 2 }
    await run(client.updateStatus(Deployment, { ...deployment, status }))
    await cluster.advance(1_000)
    assert.equal((await cluster.foo())?.status?.availableReplicas, 2)
    assert.ok((await cluster.reasons()).includes('Synced'))
  })

  it('resets the replicas of the Deployment when they are changed', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create({ deploymentName: key.name, replicas: 2 })
    await cluster.advance(1_000)
    await run(client.patch(Deployment, key, { spec: { replicas: 9 } }, { type: 'merge' }))
    await cluster.advance(1_000)
    assert.equal((await cluster.deployment())?.spec?.replicas, 2)
    await run(client.patch(Foo.v1alpha1, key, { spec: { replicas: 3 } }, { type: 'merge' }))
    await cluster.advance(1_000)
    assert.equal((await cluster.deployment())?.spec?.replicas, 3)
    await run(client.delete(Deployment, key))
    await cluster.advance(1_000)
    assert.equal((await cluster.deployment())?.spec?.replicas, 3, 'it was made again')
  })

  it('does not touch a Deployment that it does not own, and says so', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    const labels = { app: 'other' }
    await run(
      client.create(Deployment, {
        metadata: key,
        spec: {
          replicas: 5,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'b' }] } },
        },
      }),
    )
    await cluster.create({ deploymentName: key.name, replicas: 2 })
    await cluster.advance(10_000)
    assert.equal((await cluster.deployment())?.spec?.replicas, 5)
    assert.deepEqual([...new Set(await cluster.reasons())], ['ErrResourceExists'])
    await run(client.delete(Deployment, key))
    await cluster.advance(60_000)
    assert.equal((await cluster.deployment())?.spec?.replicas, 2, 'it goes on when the name is free')
  })

  it('makes nothing without a name, and refuses sizes out of range', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await assert.rejects(cluster.create({ deploymentName: 'a', replicas: 11 }), { reason: 'Invalid' })
    await cluster.create({})
    await cluster.advance(60_000)
    assert.deepEqual((await run(client.list(Deployment, { namespace: 'default' }))).items, [])
  })

  it('takes the Deployment along when it goes', async () => {
    await using cluster = await launch()
    const { client, run } = cluster
    await cluster.create({ deploymentName: key.name })
    await cluster.advance(1_000)
    await run(client.delete(Foo.v1alpha1, key))
    await cluster.advance(10_000)
    assert.equal(await cluster.deployment(), undefined)
  })

  it('ships the definition that its kind gives', () => {
    const shipped = readYaml(readFileSync(new URL('./crd.yaml', import.meta.url)))
    assert.deepEqual(shipped?.value, JSON.parse(JSON.stringify(toCustomResourceDefinition(Foo))))
  })
})
