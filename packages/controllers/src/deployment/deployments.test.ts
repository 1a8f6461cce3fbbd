import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deployment, ReplicaSet } from '@coxswain/api/apps/v1'
import { Event, Pod } from '@coxswain/api/core/v1'
import { createDeploymentController, createReplicaSetController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }

async function withControllers(body: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({
    env: new VirtualWorld({ seed: 3 }),
    controllers: true,
    nodes: 2,
  })
  cluster.start(createReplicaSetController())
  cluster.start(createDeploymentController())
  await cluster.advance(1_000)
  await body(cluster)
}

const create = (cluster: Cluster, spec: object = {}) =>
  cluster.run(
    cluster.client.create(Deployment, {
      metadata: key,
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'one' }] } },
        ...spec,
      },
    }),
  )

const setImage = (cluster: Cluster, image: string) =>
  cluster.run(
    cluster.client.patch(
      Deployment,
      key,
      { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } },
      { type: 'strategic' },
    ),
  )

const get = async (cluster: Cluster) => (await cluster.run(cluster.client.get(Deployment, key)))!
const setsOf = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.list(ReplicaSet, { namespace }))).items
const podsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Pod, { namespace }))).items
const conditionOf = ({ status }: Deployment, wanted: string) =>
  status?.conditions?.find(({ type }) => type === wanted)

describe('Deployments', () => {
  it('become available, with counts, conditions and events', async () => {
    await withControllers(async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      const deployment = await get(cluster)
      assert.equal(deployment.status?.availableReplicas, 4)
      assert.equal(deployment.status?.updatedReplicas, 4)
      assert.equal(conditionOf(deployment, 'Available')?.reason, 'MinimumReplicasAvailable')
      assert.equal(conditionOf(deployment, 'Progressing')?.reason, 'NewReplicaSetAvailable')
      assert.equal(deployment.metadata.annotations?.['deployment.kubernetes.io/revision'], '1')
      const [set] = await setsOf(cluster)
      assert.match(
        conditionOf(deployment, 'Progressing')?.message ?? '',
        new RegExp(`^ReplicaSet "${set?.metadata.name}" has successfully progressed\\.$`),
      )
      const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
      const messages = items.map(({ message }) => message)
      assert.ok(messages.includes(`Scaled up replica set ${set?.metadata.name} from 0 to 4`))
    })
  })

  it('continue after the revision of a ReplicaSet that they adopt, also beyond 2^53', async () => {
    await withControllers(async cluster => {
      const revision = 'deployment.kubernetes.io/revision'
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'zero' }] } }
      const metadata = { namespace, name: 'old', labels, annotations: { [revision]: '3546343826724305832' } }
      const spec = { replicas: 0, selector: { matchLabels: labels }, template }
      await cluster.run(cluster.client.create(ReplicaSet, { metadata, spec }))
      await create(cluster)
      await cluster.advance(10_000)
      assert.equal((await get(cluster)).metadata.annotations?.[revision], '3546343826724305833')
      const revisions = (await setsOf(cluster)).map(set => set.metadata.annotations?.[revision])
      assert.deepEqual(revisions.sort(), ['3546343826724305832', '3546343826724305833'])
    })
  })

  it('without replicas report that no pod is terminating', async () => {
    await withControllers(async cluster => {
      await create(cluster, { replicas: 0 })
      await cluster.advance(10_000)
      assert.equal((await get(cluster)).status?.terminatingReplicas, 0)
      assert.equal((await setsOf(cluster))[0]?.status?.terminatingReplicas, 0)
    })
  })

  it('roll out a new template within maxSurge and maxUnavailable, and roll back', async () => {
    await withControllers(async cluster => {
      const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } }
      await create(cluster, { strategy })
      await cluster.advance(10_000)
      await setImage(cluster, 'two')
      let fewest = 4
      let most = 4
      for (let step = 0; step < 100; step++) {
        await cluster.advance(200)
        const pods = (await podsOf(cluster)).filter(({ metadata }) => !metadata.deletionTimestamp)
        const ready = pods.filter(({ status }) =>
          status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True'),
        )
        fewest = Math.min(fewest, ready.length)
        most = Math.max(most, pods.length)
      }
      assert.deepEqual({ fewest, most }, { fewest: 3, most: 5 })
      const pods = await podsOf(cluster)
      assert.ok(pods.every(({ spec }) => spec.containers[0]?.image === 'two'))
      const deployment = await get(cluster)
      assert.equal(deployment.metadata.annotations?.['deployment.kubernetes.io/revision'], '2')
      await setImage(cluster, 'one')
      await cluster.advance(20_000)
      const sets = await setsOf(cluster)
      assert.equal(sets.length, 2)
      const first = sets.find(({ spec }) => spec?.template?.spec?.containers[0]?.image === 'one')
      assert.equal(first?.spec?.replicas, 4)
      assert.equal(first?.metadata.annotations?.['deployment.kubernetes.io/revision'], '3')
      assert.equal(first?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1')
    })
  })

  it('recreate: no new pod while an old one exists', async () => {
    await withControllers(async cluster => {
      await create(cluster, { strategy: { type: 'Recreate' }, replicas: 2 })
      await cluster.advance(10_000)
      await setImage(cluster, 'two')
      for (let step = 0; step < 60; step++) {
        await cluster.advance(100)
        const images = new Set((await podsOf(cluster)).map(({ spec }) => spec.containers[0]?.image))
        assert.ok(images.size <= 1, [...images].join(' and '))
      }
      assert.equal((await get(cluster)).status?.updatedReplicas, 2)
    })
  })

  it('scale, limit their history, and stop rolling out while paused', async () => {
    await withControllers(async cluster => {
      await create(cluster, { revisionHistoryLimit: 1 })
      await cluster.advance(10_000)
      for (const image of ['two', 'three', 'four']) {
        await setImage(cluster, image)
        await cluster.advance(20_000)
      }
      assert.equal((await setsOf(cluster)).length, 2)
      const patch = (spec: object) =>
        cluster.run(cluster.client.patch(Deployment, key, { spec }, { type: 'merge' }))
      await patch({ replicas: 7 })
      await cluster.advance(10_000)
      assert.equal((await get(cluster)).status?.availableReplicas, 7)
      await patch({ paused: true })
      await setImage(cluster, 'five')
      await cluster.advance(10_000)
      assert.equal(
        (await podsOf(cluster)).filter(({ spec }) => spec.containers[0]?.image === 'five').length,
        0,
      )
      assert.equal(conditionOf(await get(cluster), 'Progressing')?.reason, 'DeploymentPaused')
      await patch({ paused: false })
      await cluster.advance(30_000)
      assert.ok((await podsOf(cluster)).every(({ spec }) => spec.containers[0]?.image === 'five'))
    })
  })

  it('report when they exceed the progress deadline', async () => {
    await withControllers(async cluster => {
      await create(cluster, {
        progressDeadlineSeconds: 30,
        template: {
          metadata: { labels },
          spec: { schedulerName: 'none', containers: [{ name: 'c', image: 'one' }] },
        },
      })
      await cluster.advance(60_000)
      const condition = conditionOf(await get(cluster), 'Progressing')
      assert.equal(condition?.reason, 'ProgressDeadlineExceeded')
      assert.equal(condition?.status, 'False')
    })
  })
})
