import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ReplicaSet } from '@coxswain/api/apps/v1'
import { Event, Pod } from '@coxswain/api/core/v1'
import { createReplicaSetController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }

async function withController(body: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
  cluster.start(createReplicaSetController())
  await cluster.advance(1_000)
  await body(cluster)
}

const createSet = (cluster: Cluster, replicas: number) =>
  cluster.run(
    cluster.client.create(ReplicaSet, {
      metadata: key,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
  )

const podsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Pod, { namespace }))).items

describe('ReplicaSets', () => {
  it('create the desired number of pods, with status and events', async () => {
    await withController(async cluster => {
      await createSet(cluster, 3)
      await cluster.advance(2_000)
      const pods = await podsOf(cluster)
      assert.equal(pods.length, 3)
      for (const { metadata } of pods) assert.equal(metadata.ownerReferences?.[0]?.name, 'web')
      const set = await cluster.run(cluster.client.get(ReplicaSet, key))
      assert.equal(set?.status?.replicas, 3)
      assert.equal(set?.status?.fullyLabeledReplicas, 3)
      assert.equal(set?.status?.observedGeneration, 1)
      const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
      assert.equal(items.filter(({ message }) => message?.startsWith('Created pod: web-')).length, 3)
    })
  })

  it('replace a deleted pod, release a relabelled one, adopt a matching one', async () => {
    await withController(async cluster => {
      await createSet(cluster, 2)
      await cluster.advance(2_000)
      const [first, second] = await podsOf(cluster)
      const of = (pod: typeof first) => ({ namespace, name: pod!.metadata.name })
      await cluster.run(cluster.client.delete(Pod, of(first), { gracePeriodSeconds: 0 }))
      const relabel = { metadata: { labels: { app: 'other' } } }
      await cluster.run(cluster.client.patch(Pod, of(second), relabel, { type: 'merge' }))
      await cluster.advance(2_000)
      const released = await cluster.run(cluster.client.get(Pod, of(second)))
      assert.equal(released?.metadata.ownerReferences, undefined)
      assert.equal((await podsOf(cluster)).length, 3)
      await cluster.run(
        cluster.client.create(Pod, {
          metadata: { name: 'stray', namespace, labels },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        }),
      )
      await cluster.advance(2_000)
      const mine = (await podsOf(cluster)).filter(({ metadata }) => metadata.ownerReferences?.length)
      assert.equal(mine.length, 2)
    })
  })

  it('delete the pods that rank lowest', async () => {
    await withController(async cluster => {
      await createSet(cluster, 4)
      await cluster.advance(2_000)
      const [keep] = await podsOf(cluster)
      const cost = { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '10' } } }
      const of = { namespace, name: keep!.metadata.name }
      await cluster.run(cluster.client.patch(Pod, of, cost, { type: 'merge' }))
      await cluster.advance(1_000)
      await cluster.run(cluster.client.patch(ReplicaSet, key, { spec: { replicas: 1 } }, { type: 'merge' }))
      await cluster.advance(2_000)
      const left = (await podsOf(cluster)).filter(({ metadata }) => !metadata.deletionTimestamp)
      assert.deepEqual(
        left.map(({ metadata }) => metadata.name),
        [of.name],
      )
    })
  })
})
