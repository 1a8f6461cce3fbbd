import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ControllerRevision, StatefulSet } from '@coxswain/api/apps/v1'
import { Event, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { createStatefulSetController } from '@coxswain/controllers'
import type { Cluster } from '@coxswain/testing'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }
const controllers = () => [createStatefulSetController()]
const storage = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
  },
]

async function create(cluster: Cluster, spec: object = {}, image = 'one'): Promise<void> {
  await cluster.run(
    cluster.client.create(StatefulSet, {
      metadata: key,
      spec: {
        replicas: 3,
        serviceName: 'web',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
        ...spec,
      },
    }),
  )
}

const patch = (cluster: Cluster, spec: object) =>
  cluster.run(cluster.client.patch(StatefulSet, key, { spec }, { type: 'strategic' }))
const scale = (cluster: Cluster, replicas: number) => patch(cluster, { replicas })
const setImage = (cluster: Cluster, image: string) =>
  patch(cluster, { template: { spec: { containers: [{ name: 'c', image }] } } })
const get = async (cluster: Cluster) => (await cluster.run(cluster.client.get(StatefulSet, key)))!
const podsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Pod, { namespace }))).items
const deletePod = (cluster: Cluster, name: string) =>
  cluster.run(cluster.client.delete(Pod, { namespace, name }))
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(each => each.type === 'Ready' && each.status === 'True')

/** Pods as `web-0 one`, and counts of the status. */
async function outcome(cluster: Cluster) {
  const pods = (await podsOf(cluster)).map(
    ({ metadata, spec }) =>
      `${metadata.name} ${spec.containers[0]?.image}${metadata.deletionTimestamp ? ' terminating' : ''}`,
  )
  const { replicas, readyReplicas, availableReplicas, currentReplicas, updatedReplicas, ...rest } = (
    await get(cluster)
  ).status!
  const revisions = (await cluster.run(cluster.client.list(ControllerRevision, { namespace }))).items
  const isDone = rest.currentRevision === rest.updateRevision
  return {
    pods: pods.sort(),
    counts: [replicas, readyReplicas, availableReplicas, currentReplicas, updatedReplicas].map(
      count => count ?? 0,
    ),
    isDone,
    revisions: revisions.map(({ revision }) => revision).sort(),
  }
}

const play = scenariosOf('statefulset-controller', {
  controllers,
  others: () => [createObedientPods()],
  look: outcome,
})
const scenario = (name: string, act: Scenario['act'], end: object) => play(name, { act, end })

async function claimsOf(cluster: Cluster): Promise<string[]> {
  const { items } = await cluster.run(cluster.client.list(PersistentVolumeClaim, { namespace }))
  return items
    .map(
      ({ metadata }) =>
        `${metadata.name} <- ${(metadata.ownerReferences ?? []).map(each => each.name).join()}`,
    )
    .sort()
}

describe('StatefulSets', () => {
  scenario(
    'start in order, each pod when the previous one is ready',
    async cluster => {
      await create(cluster)
      for (let step = 0; step < 60; step++) {
        await cluster.advance(100)
        const pods = (await podsOf(cluster)).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
        assert.deepEqual(
          pods.map(({ metadata }) => metadata.name),
          ['web-0', 'web-1', 'web-2'].slice(0, pods.length),
        )
        assert.ok(pods.slice(0, -1).every(isReady), 'a pod did not wait')
      }
    },
    { pods: ['web-0 one', 'web-1 one', 'web-2 one'], counts: [3, 3, 3, 3, 3], isDone: true, revisions: [1] },
  )

  play('give their pods names, host names, labels and a revision, and record events', {
    act: cluster => create(cluster, { replicas: 2 }),
    look: async cluster => {
      const pod = (await cluster.run(cluster.client.get(Pod, { namespace, name: 'web-1' })))!
      const { status } = await get(cluster)
      assert.deepEqual(pod.metadata.labels, {
        app: 'web',
        'statefulset.kubernetes.io/pod-name': 'web-1',
        'apps.kubernetes.io/pod-index': '1',
        'controller-revision-hash': status?.currentRevision,
      })
      assert.equal(pod.metadata.generateName, 'web-')
      assert.equal(pod.spec.hostname, 'web-1')
      assert.equal(pod.spec.subdomain, 'web')
      const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
      const description = items
        .filter(({ reason }) => reason === 'SuccessfulCreate')
        .map(({ message }) => message)
      // A controller that is killed right after the create cannot record its event.
      return description.some(message =>
        /^Create Pod web-[01] in StatefulSet web successful$/.test(message ?? ''),
      )
    },
    end: true,
  })

  scenario('stop at a pod that does not become ready', cluster => create(cluster, {}, 'broken'), {
    pods: ['web-0 broken'],
    counts: [1, 0, 0, 1, 1],
    isDone: true,
    revisions: [1],
  })

  scenario(
    'in parallel do not wait',
    cluster => create(cluster, { podManagementPolicy: 'Parallel' }, 'broken'),
    {
      pods: ['web-0 broken', 'web-1 broken', 'web-2 broken'],
      counts: [3, 0, 0, 3, 3],
      isDone: true,
      revisions: [1],
    },
  )

  scenario(
    'scale down from the highest ordinal, one at a time',
    async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      await scale(cluster, 1)
      for (let step = 0; step < 50; step++) {
        await cluster.advance(100)
        const terminating = (await podsOf(cluster)).filter(({ metadata }) => metadata.deletionTimestamp)
        assert.ok(terminating.length <= 1)
      }
    },
    { pods: ['web-0 one'], counts: [1, 1, 1, 1, 1], isDone: true, revisions: [1] },
  )

  scenario(
    'replace a deleted pod by one of the same name',
    async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      await deletePod(cluster, 'web-1')
    },
    { pods: ['web-0 one', 'web-1 one', 'web-2 one'], counts: [3, 3, 3, 3, 3], isDone: true, revisions: [1] },
  )

  scenario(
    'replace a pod that failed',
    async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      const failed = { status: { phase: 'Failed' } }
      const of = { namespace, name: 'web-2' }
      await cluster.run(cluster.client.patch(Pod, of, failed, { type: 'merge', subresource: 'status' }))
    },
    { pods: ['web-0 one', 'web-1 one', 'web-2 one'], counts: [3, 3, 3, 3, 3], isDone: true, revisions: [1] },
  )

  scenario(
    'roll out a new template from the highest ordinal',
    async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      await setImage(cluster, 'two')
      for (let step = 0; step < 100; step++) {
        await cluster.advance(100)
        const ready = (await podsOf(cluster)).filter(pod => isReady(pod) && !pod.metadata.deletionTimestamp)
        assert.ok(ready.length >= 2, 'more than one pod is unavailable')
      }
    },
    {
      pods: ['web-0 two', 'web-1 two', 'web-2 two'],
      counts: [3, 3, 3, 3, 3],
      isDone: true,
      revisions: [1, 2],
    },
  )

  scenario(
    'roll back: the old revision becomes the newest',
    async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      await setImage(cluster, 'two')
      await cluster.advance(20_000)
      await setImage(cluster, 'one')
    },
    {
      pods: ['web-0 one', 'web-1 one', 'web-2 one'],
      counts: [3, 3, 3, 3, 3],
      isDone: true,
      revisions: [2, 3],
    },
  )

  scenario(
    'update only ordinals from the partition on',
    async cluster => {
      await create(cluster, { updateStrategy: { rollingUpdate: { partition: 2 } } })
      await cluster.advance(10_000)
      await setImage(cluster, 'two')
      await cluster.advance(20_000)
      await deletePod(cluster, 'web-0')
    },
    {
      pods: ['web-0 one', 'web-1 one', 'web-2 two'],
      counts: [3, 3, 3, 2, 1],
      isDone: false,
      revisions: [1, 2],
    },
  )

  scenario(
    'with OnDelete update pods only when they are deleted',
    async cluster => {
      await create(cluster, { updateStrategy: { type: 'OnDelete' } })
      await cluster.advance(10_000)
      await setImage(cluster, 'two')
      await cluster.advance(10_000)
      await deletePod(cluster, 'web-1')
    },
    {
      pods: ['web-0 one', 'web-1 two', 'web-2 one'],
      counts: [3, 3, 3, 2, 1],
      isDone: false,
      revisions: [1, 2],
    },
  )

  scenario(
    'stay broken after the template is fixed, until the broken pod is deleted',
    async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      await setImage(cluster, 'broken')
      await cluster.advance(10_000)
      await setImage(cluster, 'one')
      await cluster.advance(20_000)
      assert.deepEqual((await outcome(cluster)).pods, ['web-0 one', 'web-1 one', 'web-2 broken'])
      await deletePod(cluster, 'web-2')
    },
    {
      pods: ['web-0 one', 'web-1 one', 'web-2 one'],
      counts: [3, 3, 3, 3, 3],
      isDone: true,
      revisions: [2, 3],
    },
  )

  scenario(
    'start at the specified ordinal',
    cluster => create(cluster, { ordinals: { start: 5 }, replicas: 2 }),
    {
      pods: ['web-5 one', 'web-6 one'],
      counts: [2, 2, 2, 2, 2],
      isDone: true,
      revisions: [1],
    },
  )

  scenario(
    'follow a change of the start ordinal',
    async cluster => {
      await create(cluster, { replicas: 2 })
      await cluster.advance(10_000)
      await patch(cluster, { ordinals: { start: 1 } })
    },
    { pods: ['web-1 one', 'web-2 one'], counts: [2, 2, 2, 2, 2], isDone: true, revisions: [1] },
  )

  scenario(
    'wait for minReadySeconds between pods',
    async cluster => {
      await create(cluster, { minReadySeconds: 10, replicas: 2 })
      await cluster.advance(5_000)
      assert.deepEqual((await outcome(cluster)).counts, [1, 1, 0, 1, 1])
      assert.equal((await podsOf(cluster)).length, 1)
    },
    { pods: ['web-0 one', 'web-1 one'], counts: [2, 2, 2, 2, 2], isDone: true, revisions: [1] },
  )

  scenario(
    'keep as many revisions as revisionHistoryLimit',
    async cluster => {
      await create(cluster, { replicas: 1, revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) {
        await cluster.advance(10_000)
        await setImage(cluster, image)
      }
    },
    { pods: ['web-0 four'], counts: [1, 1, 1, 1, 1], isDone: true, revisions: [3, 4] },
  )

  scenario(
    'adopt a pod of the right name, and no other',
    async cluster => {
      const containers = [{ name: 'c', image: 'stray' }]
      await cluster.run(
        cluster.client.create(Pod, { metadata: { name: 'web-0', namespace, labels }, spec: { containers } }),
      )
      await cluster.run(
        cluster.client.create(Pod, {
          metadata: { name: 'other-0', namespace, labels },
          spec: { containers },
        }),
      )
      await create(cluster, { replicas: 2, updateStrategy: { type: 'OnDelete' } })
      await cluster.advance(10_000)
      const adopted = await cluster.run(cluster.client.get(Pod, { namespace, name: 'web-0' }))
      assert.equal(adopted?.metadata.ownerReferences?.[0]?.name, 'web')
      assert.equal(adopted?.metadata.labels?.['apps.kubernetes.io/pod-index'], '0')
      const other = await cluster.run(cluster.client.get(Pod, { namespace, name: 'other-0' }))
      assert.equal(other?.metadata.ownerReferences, undefined)
      await deletePod(cluster, 'other-0')
    },
    { pods: ['web-0 stray', 'web-1 one'], counts: [2, 2, 2, 1, 1], isDone: true, revisions: [1] },
  )

  scenario(
    'release a relabelled pod, and replace it when its name is free',
    async cluster => {
      await create(cluster, { replicas: 2 })
      await cluster.advance(10_000)
      const of = { namespace, name: 'web-1' }
      const relabel = { metadata: { labels: { app: 'other' } } }
      await cluster.run(cluster.client.patch(Pod, of, relabel, { type: 'merge' }))
      await cluster.advance(10_000)
      const released = await cluster.run(cluster.client.get(Pod, of))
      assert.equal(released?.metadata.ownerReferences, undefined)
      assert.equal((await get(cluster)).status?.replicas, 1)
      await deletePod(cluster, 'web-1')
    },
    { pods: ['web-0 one', 'web-1 one'], counts: [2, 2, 2, 2, 2], isDone: true, revisions: [1] },
  )

  scenario(
    'in parallel recover from a broken template, and scale down at once',
    async cluster => {
      await create(cluster, { podManagementPolicy: 'Parallel' })
      await cluster.advance(10_000)
      await setImage(cluster, 'broken')
      await cluster.advance(10_000)
      assert.deepEqual((await outcome(cluster)).pods, ['web-0 one', 'web-1 one', 'web-2 broken'])
      await setImage(cluster, 'one')
      await cluster.advance(10_000)
      assert.deepEqual((await outcome(cluster)).pods, ['web-0 one', 'web-1 one', 'web-2 one'])
      await scale(cluster, 1)
    },
    { pods: ['web-0 one'], counts: [1, 1, 1, 1, 1], isDone: true, revisions: [2, 3] },
  )

  play('are deleted with their pods and revisions', {
    act: async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      await cluster.run(cluster.client.delete(StatefulSet, key, { propagationPolicy: 'Foreground' }))
    },
    look: async cluster => {
      const revisions = await cluster.run(cluster.client.list(ControllerRevision, { namespace }))
      return [...(await podsOf(cluster)), ...revisions.items].length
    },
    end: 0,
  })

  play('adopt the pods and revisions that another one orphaned', {
    act: async cluster => {
      await create(cluster)
      await cluster.advance(10_000)
      const before = (await podsOf(cluster)).map(({ metadata }) => metadata.uid).sort()
      await cluster.run(cluster.client.delete(StatefulSet, key, { propagationPolicy: 'Orphan' }))
      await cluster.advance(20_000)
      await create(cluster)
      await cluster.advance(10_000)
      assert.deepEqual((await podsOf(cluster)).map(({ metadata }) => metadata.uid).sort(), before)
    },
    look: outcome,
    end: {
      pods: ['web-0 one', 'web-1 one', 'web-2 one'],
      counts: [3, 3, 3, 3, 3],
      isDone: true,
      revisions: [1],
    },
  })
})

describe('Claims of StatefulSets', () => {
  const claims = (
    name: string,
    policy: object,
    act: (cluster: Cluster) => Promise<unknown>,
    end: readonly string[],
  ) =>
    play(name, {
      act: async cluster => {
        await create(cluster, {
          replicas: 2,
          volumeClaimTemplates: storage,
          persistentVolumeClaimRetentionPolicy: policy,
        })
        await cluster.advance(10_000)
        await act(cluster)
      },
      look: claimsOf,
      end,
    })
  const retain = { whenDeleted: 'Retain', whenScaled: 'Retain' }
  const scaled = { whenDeleted: 'Retain', whenScaled: 'Delete' }
  const deleted = { whenDeleted: 'Delete', whenScaled: 'Retain' }
  const both = { whenDeleted: 'Delete', whenScaled: 'Delete' }
  const remove = (cluster: Cluster) => cluster.run(cluster.client.delete(StatefulSet, key)).then(() => {})

  claims(
    'are created before the pod and mounted',
    retain,
    async cluster => {
      const pod = await cluster.run(cluster.client.get(Pod, { namespace, name: 'web-1' }))
      const volume = pod?.spec.volumes?.find(({ name }) => name === 'data')
      assert.equal(volume?.persistentVolumeClaim?.claimName, 'data-web-1')
      const claim = await cluster.run(
        cluster.client.get(PersistentVolumeClaim, { namespace, name: 'data-web-1' }),
      )
      assert.deepEqual(claim?.metadata.labels, labels)
    },
    ['data-web-0 <- ', 'data-web-1 <- '],
  )
  claims('are retained when pods are deleted', retain, cluster => scale(cluster, 0).then(() => {}), [
    'data-web-0 <- ',
    'data-web-1 <- ',
  ])
  claims('are deleted with a pod that is scaled down', scaled, cluster => scale(cluster, 1).then(() => {}), [
    'data-web-0 <- ',
  ])
  claims(
    'are retained when a pod is only replaced',
    scaled,
    cluster => deletePod(cluster, 'web-1').then(() => {}),
    ['data-web-0 <- ', 'data-web-1 <- '],
  )
  claims('are deleted with the set', deleted, remove, [])
  claims(
    'are retained when a pod is scaled down, and owned by the set',
    deleted,
    cluster => scale(cluster, 1).then(() => {}),
    ['data-web-0 <- web', 'data-web-1 <- web'],
  )
  claims(
    'are deleted with either',
    both,
    async cluster => {
      await scale(cluster, 1)
      await cluster.advance(10_000)
      assert.deepEqual(await claimsOf(cluster), ['data-web-0 <- web'])
      await remove(cluster)
    },
    [],
  )
  claims(
    'follow a change of the policy',
    retain,
    cluster => patch(cluster, { persistentVolumeClaimRetentionPolicy: deleted }).then(() => {}),
    ['data-web-0 <- web', 'data-web-1 <- web'],
  )
  claims(
    'are recreated when a pod is scaled up again',
    scaled,
    async cluster => {
      const before = await cluster.run(
        cluster.client.get(PersistentVolumeClaim, { namespace, name: 'data-web-1' }),
      )
      await scale(cluster, 1)
      for (let step = 0; step < 100; step++) {
        await cluster.advance(50)
        if ((await podsOf(cluster)).length === 1) break
      }
      await scale(cluster, 2)
      await cluster.advance(20_000)
      const after = await cluster.run(
        cluster.client.get(PersistentVolumeClaim, { namespace, name: 'data-web-1' }),
      )
      assert.notEqual(after?.metadata.uid, before?.metadata.uid)
    },
    ['data-web-0 <- ', 'data-web-1 <- '],
  )
})
