import { describe, it } from 'node:test'
import { ReplicaSet } from '@coxswain/api/apps/v1'
import { ConfigMap, Pod, ReplicationController, ResourceQuota } from '@coxswain/api/core/v1'
import { createReplicaSetController, createReplicationControllerController } from '@coxswain/controllers'
import { type Play, playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }
const operators = () => [createReplicaSetController(), createReplicationControllerController()]
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })

async function create(stage: WorkloadStage, spec: object = {}, image = 'one'): Promise<void> {
  await stage.run(
    stage.client.create(ReplicaSet, {
      metadata: key,
      spec: { replicas: 3, selector: { matchLabels: labels }, template: templateOf(image), ...spec },
    }),
  )
  await stage.later(5_000)
}

async function createPod(stage: WorkloadStage, name: string, metadata: object = {}): Promise<void> {
  const { spec } = templateOf('one')
  await stage.run(stage.client.create(Pod, { metadata: { namespace, name, labels, ...metadata }, spec }))
  await stage.later(2_000)
}

async function scale(stage: WorkloadStage, replicas: number): Promise<void> {
  await stage.run(stage.client.patch(ReplicaSet, key, { spec: { replicas } }, { type: 'merge' }))
  await stage.later(5_000)
}

const podsOf = async ({ client, cluster }: WorkloadStage) =>
  (await cluster.run(client.list(Pod, { namespace }))).items

/** The first by name: the same in every play. */
async function anyPod(stage: WorkloadStage) {
  const [pod] = (await podsOf(stage)).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  return { namespace, name: pod!.metadata.name }
}

const patchPod = async (stage: WorkloadStage, of: typeof key, metadata: object) =>
  await stage.run(stage.client.patch(Pod, of, { metadata }, { type: 'merge' }))

/** Counts of the status (all, labelled, ready, available, going), conditions, and pods of the set, of nobody, of others. */
async function outcome(stage: WorkloadStage) {
  const { status, metadata } = (await stage.run(stage.client.get(ReplicaSet, key)))!
  const pods = (await podsOf(stage)).map(({ metadata: of, status: state }) => {
    const owner = of.ownerReferences?.find(({ controller }) => controller)
    const whose = !owner ? 'nobody' : owner.uid === metadata.uid ? 'mine' : 'another'
    return `${whose} ${state?.phase}`
  })
  const { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, terminatingReplicas } = status!
  const counts = [replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, terminatingReplicas]
  return {
    counts: counts.map(count => count ?? 0).join(),
    conditions: (status?.conditions ?? []).map(
      ({ type, status: state, reason }) => `${type} ${state} ${reason}`,
    ),
    pods: pods.sort(),
  }
}

const running = (count: number, whose = 'mine') => Array.from({ length: count }, () => `${whose} Running`)
const whole = { counts: '3,3,3,3,0', conditions: [], pods: running(3) }

const scenario = (name: string, act: Play['act'], expected: object) =>
  it(name, () => playWorkload({ operators, act, end: outcome }, expected))

describe('ReplicaSets, whatever happens to their controller', () => {
  scenario('get their pods', create, whole)

  scenario('create many in growing batches', stage => create(stage, { replicas: 40 }), {
    counts: '40,40,40,40,0',
    conditions: [],
    pods: running(40),
  })

  scenario(
    'grow',
    async stage => {
      await create(stage)
      await scale(stage, 5)
    },
    { counts: '5,5,5,5,0', conditions: [], pods: running(5) },
  )

  scenario(
    'shrink',
    async stage => {
      await create(stage)
      await scale(stage, 1)
    },
    { counts: '1,1,1,1,0', conditions: [], pods: running(1) },
  )

  scenario(
    'shrink to nothing',
    async stage => {
      await create(stage)
      await scale(stage, 0)
    },
    { counts: '0,0,0,0,0', conditions: [], pods: [] },
  )

  scenario(
    'replace a pod that is deleted',
    async stage => {
      await create(stage)
      await stage.run(stage.client.delete(Pod, await anyPod(stage)))
    },
    whole,
  )

  scenario(
    'replace a pod that has failed, and leave it where it is',
    async stage => {
      await create(stage)
      const of = await anyPod(stage)
      const pod = (await stage.run(stage.client.get(Pod, of)))!
      await stage.run(stage.client.updateStatus(Pod, { ...pod, status: { ...pod.status, phase: 'Failed' } }))
    },
    { ...whole, pods: ['mine Failed', ...running(3)] },
  )

  scenario('count pods that are not ready', stage => create(stage, {}, 'broken'), {
    counts: '3,3,0,0,0',
    conditions: [],
    pods: running(3),
  })

  scenario(
    'count pods as available when they have been ready for long enough',
    stage => create(stage, { minReadySeconds: 30 }),
    whole,
  )

  scenario(
    'release a pod whose labels no longer fit, and replace it',
    async stage => {
      await create(stage)
      await patchPod(stage, await anyPod(stage), { labels: { app: 'other' } })
    },
    { ...whole, pods: [...running(3), ...running(1, 'nobody')] },
  )

  scenario(
    'adopt a pod that fits when it was there before',
    async stage => {
      await createPod(stage, 'stray')
      await create(stage)
    },
    whole,
  )

  scenario(
    'do not take a pod of another',
    async stage => {
      const { metadata } = await stage.run(
        stage.client.create(ConfigMap, { metadata: { namespace, name: 'x' } }),
      )
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: metadata.uid, controller: true }
      await createPod(stage, 'stray', { ownerReferences: [owner] })
      await create(stage)
    },
    { ...whole, pods: ['another Running', ...running(3)] },
  )

  scenario(
    'do not adopt when they are being deleted themselves',
    async stage => {
      await create(stage, { replicas: 1 })
      await stage.run(
        stage.client.patch(ReplicaSet, key, { metadata: { finalizers: ['a.b/c'] } }, { type: 'merge' }),
      )
      await stage.run(stage.client.delete(ReplicaSet, key, { propagationPolicy: 'Background' }))
      await createPod(stage, 'stray')
      await stage.run(stage.client.delete(Pod, { namespace, name: 'stray' }))
    },
    { counts: '1,1,1,1,0', conditions: [], pods: running(1) },
  )

  scenario(
    'say why they cannot create pods, and get on when they can',
    async stage => {
      const quota = { namespace, name: 'none' }
      await stage.run(stage.client.create(ResourceQuota, { metadata: quota, spec: { hard: { pods: '0' } } }))
      await stage.run(
        stage.client.patch(
          ResourceQuota,
          quota,
          { status: { hard: { pods: '0' }, used: { pods: '0' } } },
          {
            type: 'merge',
            subresource: 'status',
          },
        ),
      )
      await create(stage)
      const set = (await stage.run(stage.client.get(ReplicaSet, key)))!
      const [failure] = set.status?.conditions ?? []
      if (failure?.reason !== 'FailedCreate')
        throw new Error(`no word of the quota: ${JSON.stringify(set.status)}`)
      await stage.run(stage.client.delete(ResourceQuota, quota))
      await stage.later(120_000)
    },
    whole,
  )

  scenario(
    'keep the pod that costs most to lose',
    async stage => {
      await create(stage)
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '10' }
      await patchPod(stage, await anyPod(stage), { annotations, labels: { kept: 'yes' } })
      await scale(stage, 1)
      const [left] = await podsOf(stage)
      if (left?.metadata.labels?.kept !== 'yes') throw new Error('another one was kept')
    },
    { counts: '1,1,1,1,0', conditions: [], pods: running(1) },
  )

  scenario(
    'count those that are on their way out',
    async stage => {
      await create(stage)
      const of = await anyPod(stage)
      await patchPod(stage, of, { finalizers: ['a.b/c'] })
      await stage.run(stage.client.delete(Pod, of))
      await stage.later(5_000)
    },
    { ...whole, counts: '3,3,3,3,1', pods: running(4) },
  )
})

describe('ReplicationControllers, whatever happens to their controller', () => {
  const end = async (stage: WorkloadStage) => {
    const { status } = (await stage.run(stage.client.get(ReplicationController, key)))!
    return [status?.replicas, status?.readyReplicas, (await podsOf(stage)).length].join()
  }
  const createController = async (stage: WorkloadStage, spec: object = {}) => {
    await stage.run(
      stage.client.create(ReplicationController, {
        metadata: key,
        spec: { replicas: 3, selector: labels, template: templateOf('one'), ...spec },
      }),
    )
    await stage.later(5_000)
  }

  it('get their pods', () => playWorkload({ operators, act: createController, end }, '3,3,3'))

  it('grow, shrink, and replace', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await createController(stage)
          for (const replicas of [5, 2]) {
            await stage.run(
              stage.client.patch(ReplicationController, key, { spec: { replicas } }, { type: 'merge' }),
            )
            await stage.later(5_000)
          }
          await stage.run(stage.client.delete(Pod, await anyPod(stage)))
        },
        end,
      },
      '2,2,2',
    ))
})
