import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ControllerRevision, StatefulSet } from '@coxswain/api/apps/v1'
import { Event, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { createStatefulSetController } from '@coxswain/controllers'
import { type Play, playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }
const operators = () => [createStatefulSetController()]
const storage = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
  },
]

async function create(stage: WorkloadStage, spec: object = {}, image = 'one'): Promise<void> {
  await stage.run(
    stage.client.create(StatefulSet, {
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

const patch = (stage: WorkloadStage, spec: object) =>
  stage.run(stage.client.patch(StatefulSet, key, { spec }, { type: 'strategic' }))
const scale = (stage: WorkloadStage, replicas: number) => patch(stage, { replicas })
const setImage = (stage: WorkloadStage, image: string) =>
  patch(stage, { template: { spec: { containers: [{ name: 'c', image }] } } })
const get = async (stage: WorkloadStage) => (await stage.run(stage.client.get(StatefulSet, key)))!
const podsOf = async ({ client, cluster }: WorkloadStage) =>
  (await cluster.run(client.list(Pod, { namespace }))).items
const deletePod = (stage: WorkloadStage, name: string) =>
  stage.run(stage.client.delete(Pod, { namespace, name }))
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(each => each.type === 'Ready' && each.status === 'True')

/** Pods as `web-0 one`, and counts of the status. */
async function outcome(stage: WorkloadStage) {
  const pods = (await podsOf(stage)).map(
    ({ metadata, spec }) =>
      `${metadata.name} ${spec.containers[0]?.image}${metadata.deletionTimestamp ? ' going' : ''}`,
  )
  const { replicas, readyReplicas, availableReplicas, currentReplicas, updatedReplicas, ...rest } = (
    await get(stage)
  ).status!
  const revisions = (await stage.run(stage.client.list(ControllerRevision, { namespace }))).items
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

const scenario = (name: string, act: Play['act'], expected?: object) =>
  it(name, () => playWorkload({ operators, act, end: outcome }, expected))

async function claimsOf(stage: WorkloadStage): Promise<string[]> {
  const { items } = await stage.run(stage.client.list(PersistentVolumeClaim, { namespace }))
  return items
    .map(
      ({ metadata }) =>
        `${metadata.name} <- ${(metadata.ownerReferences ?? []).map(each => each.name).join()}`,
    )
    .sort()
}

describe('StatefulSets', () => {
  scenario(
    'come up in order, each pod when the one before it is ready',
    async stage => {
      await create(stage)
      for (let step = 0; step < 60; step++) {
        await stage.later(100)
        const pods = (await podsOf(stage)).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
        assert.deepEqual(
          pods.map(({ metadata }) => metadata.name),
          ['web-0', 'web-1', 'web-2'].slice(0, pods.length),
        )
        assert.ok(pods.slice(0, -1).every(isReady), 'a pod did not wait')
      }
    },
    { pods: ['web-0 one', 'web-1 one', 'web-2 one'], counts: [3, 3, 3, 3, 3], isDone: true, revisions: [1] },
  )

  it('give their pods names, host names, labels and a revision, and tell of them', async () => {
    const end = async (stage: WorkloadStage) => {
      const pod = (await stage.run(stage.client.get(Pod, { namespace, name: 'web-1' })))!
      const { status } = await get(stage)
      assert.deepEqual(pod.metadata.labels, {
        app: 'web',
        'statefulset.kubernetes.io/pod-name': 'web-1',
        'apps.kubernetes.io/pod-index': '1',
        'controller-revision-hash': status?.currentRevision,
      })
      assert.equal(pod.metadata.generateName, 'web-')
      assert.equal(pod.spec.hostname, 'web-1')
      assert.equal(pod.spec.subdomain, 'web')
      const { items } = await stage.run(stage.client.list(Event, { namespace }))
      const told = items.filter(({ reason }) => reason === 'SuccessfulCreate').map(({ message }) => message)
      // Who dies right after the creation cannot tell of it any more.
      return told.some(message => /^Create Pod web-[01] in StatefulSet web successful$/.test(message ?? ''))
    }
    await playWorkload({ operators, act: stage => create(stage, { replicas: 2 }), end }, true)
  })

  scenario('stop at a pod that does not get ready', stage => create(stage, {}, 'broken'), {
    pods: ['web-0 broken'],
    counts: [1, 0, 0, 1, 1],
    isDone: true,
    revisions: [1],
  })

  scenario('in parallel do not wait', stage => create(stage, { podManagementPolicy: 'Parallel' }, 'broken'), {
    pods: ['web-0 broken', 'web-1 broken', 'web-2 broken'],
    counts: [3, 0, 0, 3, 3],
    isDone: true,
    revisions: [1],
  })

  scenario(
    'scale down from the top, one at a time',
    async stage => {
      await create(stage)
      await stage.later(10_000)
      await scale(stage, 1)
      for (let step = 0; step < 50; step++) {
        await stage.later(100)
        const going = (await podsOf(stage)).filter(({ metadata }) => metadata.deletionTimestamp)
        assert.ok(going.length <= 1)
      }
    },
    { pods: ['web-0 one'], counts: [1, 1, 1, 1, 1], isDone: true, revisions: [1] },
  )

  scenario(
    'replace a pod that is deleted by one of the same name',
    async stage => {
      await create(stage)
      await stage.later(10_000)
      await deletePod(stage, 'web-1')
    },
    { pods: ['web-0 one', 'web-1 one', 'web-2 one'], counts: [3, 3, 3, 3, 3], isDone: true, revisions: [1] },
  )

  scenario(
    'replace a pod that failed',
    async stage => {
      await create(stage)
      await stage.later(10_000)
      const failed = { status: { phase: 'Failed' } }
      const of = { namespace, name: 'web-2' }
      await stage.run(stage.client.patch(Pod, of, failed, { type: 'merge', subresource: 'status' }))
    },
    { pods: ['web-0 one', 'web-1 one', 'web-2 one'], counts: [3, 3, 3, 3, 3], isDone: true, revisions: [1] },
  )

  scenario(
    'roll a new template out from the top',
    async stage => {
      await create(stage)
      await stage.later(10_000)
      await setImage(stage, 'two')
      for (let step = 0; step < 100; step++) {
        await stage.later(100)
        const ready = (await podsOf(stage)).filter(pod => isReady(pod) && !pod.metadata.deletionTimestamp)
        assert.ok(ready.length >= 2, 'more than one pod is away')
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
    async stage => {
      await create(stage)
      await stage.later(10_000)
      await setImage(stage, 'two')
      await stage.later(20_000)
      await setImage(stage, 'one')
    },
    {
      pods: ['web-0 one', 'web-1 one', 'web-2 one'],
      counts: [3, 3, 3, 3, 3],
      isDone: true,
      revisions: [2, 3],
    },
  )

  scenario(
    'update only from the partition on',
    async stage => {
      await create(stage, { updateStrategy: { rollingUpdate: { partition: 2 } } })
      await stage.later(10_000)
      await setImage(stage, 'two')
      await stage.later(20_000)
      await deletePod(stage, 'web-0')
    },
    {
      pods: ['web-0 one', 'web-1 one', 'web-2 two'],
      counts: [3, 3, 3, 2, 1],
      isDone: false,
      revisions: [1, 2],
    },
  )

  scenario(
    'update on deletion when they say so',
    async stage => {
      await create(stage, { updateStrategy: { type: 'OnDelete' } })
      await stage.later(10_000)
      await setImage(stage, 'two')
      await stage.later(10_000)
      await deletePod(stage, 'web-1')
    },
    {
      pods: ['web-0 one', 'web-1 two', 'web-2 one'],
      counts: [3, 3, 3, 2, 1],
      isDone: false,
      revisions: [1, 2],
    },
  )

  scenario(
    'with a broken template stay as they are even when it is mended, until the pod is deleted',
    async stage => {
      await create(stage)
      await stage.later(10_000)
      await setImage(stage, 'broken')
      await stage.later(10_000)
      await setImage(stage, 'one')
      await stage.later(20_000)
      assert.deepEqual((await outcome(stage)).pods, ['web-0 one', 'web-1 one', 'web-2 broken'])
      await deletePod(stage, 'web-2')
    },
    {
      pods: ['web-0 one', 'web-1 one', 'web-2 one'],
      counts: [3, 3, 3, 3, 3],
      isDone: true,
      revisions: [2, 3],
    },
  )

  scenario('begin to count where they say', stage => create(stage, { ordinals: { start: 5 }, replicas: 2 }), {
    pods: ['web-5 one', 'web-6 one'],
    counts: [2, 2, 2, 2, 2],
    isDone: true,
    revisions: [1],
  })

  scenario(
    'move when the first ordinal changes',
    async stage => {
      await create(stage, { replicas: 2 })
      await stage.later(10_000)
      await patch(stage, { ordinals: { start: 1 } })
    },
    { pods: ['web-1 one', 'web-2 one'], counts: [2, 2, 2, 2, 2], isDone: true, revisions: [1] },
  )

  scenario(
    'wait for minReadySeconds between pods',
    async stage => {
      await create(stage, { minReadySeconds: 10, replicas: 2 })
      await stage.later(5_000)
      assert.deepEqual((await outcome(stage)).counts, [1, 1, 0, 1, 1])
      assert.equal((await podsOf(stage)).length, 1)
    },
    { pods: ['web-0 one', 'web-1 one'], counts: [2, 2, 2, 2, 2], isDone: true, revisions: [1] },
  )

  scenario(
    'keep no more revisions than they may',
    async stage => {
      await create(stage, { replicas: 1, revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) {
        await stage.later(10_000)
        await setImage(stage, image)
      }
    },
    { pods: ['web-0 four'], counts: [1, 1, 1, 1, 1], isDone: true, revisions: [3, 4] },
  )

  scenario(
    'adopt a pod of the right name, and no other',
    async stage => {
      const containers = [{ name: 'c', image: 'stray' }]
      await stage.run(
        stage.client.create(Pod, { metadata: { name: 'web-0', namespace, labels }, spec: { containers } }),
      )
      await stage.run(
        stage.client.create(Pod, { metadata: { name: 'other-0', namespace, labels }, spec: { containers } }),
      )
      await create(stage, { replicas: 2, updateStrategy: { type: 'OnDelete' } })
      await stage.later(10_000)
      const adopted = await stage.run(stage.client.get(Pod, { namespace, name: 'web-0' }))
      assert.equal(adopted?.metadata.ownerReferences?.[0]?.name, 'web')
      assert.equal(adopted?.metadata.labels?.['apps.kubernetes.io/pod-index'], '0')
      const other = await stage.run(stage.client.get(Pod, { namespace, name: 'other-0' }))
      assert.equal(other?.metadata.ownerReferences, undefined)
      await deletePod(stage, 'other-0')
    },
    { pods: ['web-0 stray', 'web-1 one'], counts: [2, 2, 2, 1, 1], isDone: true, revisions: [1] },
  )

  scenario(
    'release a pod that is relabelled, and get another when its name is free',
    async stage => {
      await create(stage, { replicas: 2 })
      await stage.later(10_000)
      const of = { namespace, name: 'web-1' }
      const relabel = { metadata: { labels: { app: 'other' } } }
      await stage.run(stage.client.patch(Pod, of, relabel, { type: 'merge' }))
      await stage.later(10_000)
      const released = await stage.run(stage.client.get(Pod, of))
      assert.equal(released?.metadata.ownerReferences, undefined)
      assert.equal((await get(stage)).status?.replicas, 1)
      await deletePod(stage, 'web-1')
    },
    { pods: ['web-0 one', 'web-1 one'], counts: [2, 2, 2, 2, 2], isDone: true, revisions: [1] },
  )

  scenario(
    'in parallel get over a broken template when it is mended, and scale down at once',
    async stage => {
      await create(stage, { podManagementPolicy: 'Parallel' })
      await stage.later(10_000)
      await setImage(stage, 'broken')
      await stage.later(10_000)
      assert.deepEqual((await outcome(stage)).pods, ['web-0 one', 'web-1 one', 'web-2 broken'])
      await setImage(stage, 'one')
      await stage.later(10_000)
      assert.deepEqual((await outcome(stage)).pods, ['web-0 one', 'web-1 one', 'web-2 one'])
      await scale(stage, 1)
    },
    { pods: ['web-0 one'], counts: [1, 1, 1, 1, 1], isDone: true, revisions: [2, 3] },
  )

  it('take their pods and revisions along', async () => {
    const act = async (stage: WorkloadStage) => {
      await create(stage)
      await stage.later(10_000)
      await stage.run(stage.client.delete(StatefulSet, key, { propagationPolicy: 'Foreground' }))
    }
    const end = async (stage: WorkloadStage) => {
      const revisions = await stage.run(stage.client.list(ControllerRevision, { namespace }))
      return [...(await podsOf(stage)), ...revisions.items].length
    }
    await playWorkload({ operators, act, end }, 0)
  })

  it('take over the pods and revisions that another left as orphans', async () => {
    const act = async (stage: WorkloadStage) => {
      await create(stage)
      await stage.later(10_000)
      const before = (await podsOf(stage)).map(({ metadata }) => metadata.uid).sort()
      await stage.run(stage.client.delete(StatefulSet, key, { propagationPolicy: 'Orphan' }))
      await stage.later(20_000)
      await create(stage)
      await stage.later(10_000)
      assert.deepEqual((await podsOf(stage)).map(({ metadata }) => metadata.uid).sort(), before)
    }
    await playWorkload(
      { operators, act, end: outcome },
      {
        pods: ['web-0 one', 'web-1 one', 'web-2 one'],
        counts: [3, 3, 3, 3, 3],
        isDone: true,
        revisions: [1],
      },
    )
  })
})

describe('Claims of StatefulSets', () => {
  const play = (name: string, policy: object, act: Play['act'], expected: readonly string[]) =>
    it(name, async () => {
      const begin = async (stage: WorkloadStage) => {
        await create(stage, {
          replicas: 2,
          volumeClaimTemplates: storage,
          persistentVolumeClaimRetentionPolicy: policy,
        })
        await stage.later(10_000)
        await act(stage)
      }
      await playWorkload({ operators, act: begin, end: claimsOf }, expected)
    })
  const retain = { whenDeleted: 'Retain', whenScaled: 'Retain' }
  const scaled = { whenDeleted: 'Retain', whenScaled: 'Delete' }
  const deleted = { whenDeleted: 'Delete', whenScaled: 'Retain' }
  const both = { whenDeleted: 'Delete', whenScaled: 'Delete' }
  const remove = (stage: WorkloadStage) => stage.run(stage.client.delete(StatefulSet, key)).then(() => {})

  play(
    'are made before the pod and mounted',
    retain,
    async stage => {
      const pod = await stage.run(stage.client.get(Pod, { namespace, name: 'web-1' }))
      const volume = pod?.spec.volumes?.find(({ name }) => name === 'data')
      assert.equal(volume?.persistentVolumeClaim?.claimName, 'data-web-1')
      const claim = await stage.run(
        stage.client.get(PersistentVolumeClaim, { namespace, name: 'data-web-1' }),
      )
      assert.deepEqual(claim?.metadata.labels, labels)
    },
    ['data-web-0 <- ', 'data-web-1 <- '],
  )
  play('stay when pods go', retain, stage => scale(stage, 0).then(() => {}), [
    'data-web-0 <- ',
    'data-web-1 <- ',
  ])
  play('go with a pod that is scaled away', scaled, stage => scale(stage, 1).then(() => {}), [
    'data-web-0 <- ',
  ])
  play('stay with a pod that is only replaced', scaled, stage => deletePod(stage, 'web-1').then(() => {}), [
    'data-web-0 <- ',
    'data-web-1 <- ',
  ])
  play('go with the set', deleted, remove, [])
  play(
    'stay when a pod is scaled away, and belong to the set',
    deleted,
    stage => scale(stage, 1).then(() => {}),
    ['data-web-0 <- web', 'data-web-1 <- web'],
  )
  play(
    'go with either',
    both,
    async stage => {
      await scale(stage, 1)
      await stage.later(10_000)
      assert.deepEqual(await claimsOf(stage), ['data-web-0 <- web'])
      await remove(stage)
    },
    [],
  )
  play(
    'follow a change of the policy',
    retain,
    stage => patch(stage, { persistentVolumeClaimRetentionPolicy: deleted }).then(() => {}),
    ['data-web-0 <- web', 'data-web-1 <- web'],
  )
  play(
    'are made anew when a pod comes back',
    scaled,
    async stage => {
      const before = await stage.run(
        stage.client.get(PersistentVolumeClaim, { namespace, name: 'data-web-1' }),
      )
      await scale(stage, 1)
      for (let step = 0; step < 100; step++) {
        await stage.later(50)
        if ((await podsOf(stage)).length === 1) break
      }
      await scale(stage, 2)
      await stage.later(20_000)
      const after = await stage.run(
        stage.client.get(PersistentVolumeClaim, { namespace, name: 'data-web-1' }),
      )
      assert.notEqual(after?.metadata.uid, before?.metadata.uid)
    },
    ['data-web-0 <- ', 'data-web-1 <- '],
  )
})
