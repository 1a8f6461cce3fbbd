import { describe } from 'node:test'
import { ReplicaSet } from '@coxswain/api/apps/v1'
import { ConfigMap, Pod, ReplicationController, ResourceQuota } from '@coxswain/api/core/v1'
import { createReplicaSetController, createReplicationControllerController } from '@coxswain/controllers'
import type { Cluster } from '@coxswain/testing'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }
const controllers = () => [createReplicaSetController(), createReplicationControllerController()]
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })

async function create(cluster: Cluster, spec: object = {}, image = 'one'): Promise<void> {
  await cluster.run(
    cluster.client.create(ReplicaSet, {
      metadata: key,
      spec: { replicas: 3, selector: { matchLabels: labels }, template: templateOf(image), ...spec },
    }),
  )
  await cluster.advance(5_000)
}

async function createPod(cluster: Cluster, name: string, metadata: object = {}): Promise<void> {
  const { spec } = templateOf('one')
  await cluster.run(cluster.client.create(Pod, { metadata: { namespace, name, labels, ...metadata }, spec }))
  await cluster.advance(2_000)
}

async function scale(cluster: Cluster, replicas: number): Promise<void> {
  await cluster.run(cluster.client.patch(ReplicaSet, key, { spec: { replicas } }, { type: 'merge' }))
  await cluster.advance(5_000)
}

const podsOf = async (cluster: Cluster) => (await cluster.run(cluster.client.list(Pod, { namespace }))).items

/** The first pod by name, so that every run picks the same one. */
async function anyPod(cluster: Cluster) {
  const [pod] = (await podsOf(cluster)).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  return { namespace, name: pod!.metadata.name }
}

const patchPod = async (cluster: Cluster, of: typeof key, metadata: object) =>
  await cluster.run(cluster.client.patch(Pod, of, { metadata }, { type: 'merge' }))

/**
 * Counts of the status (all, labelled, ready, available, terminating), conditions, and the number of pods that the set controls,
 * orphans, and pods of other controllers.
 */
async function outcome(cluster: Cluster) {
  const { status, metadata } = (await cluster.run(cluster.client.get(ReplicaSet, key)))!
  const pods = (await podsOf(cluster)).map(({ metadata: of, status: state }) => {
    const owner = of.ownerReferences?.find(({ controller }) => controller)
    const whose = !owner ? 'orphan' : owner.uid === metadata.uid ? 'mine' : 'another'
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

const play = scenariosOf('replicaset-controller', {
  controllers,
  others: () => [createObedientPods()],
  look: outcome,
})
const scenario = (name: string, act: Scenario['act'], end: object) => play(name, { act, end })

describe('ReplicaSets, with faults injected into their controller', () => {
  scenario('create their pods', create, whole)

  scenario('create many pods in growing batches', cluster => create(cluster, { replicas: 40 }), {
    counts: '40,40,40,40,0',
    conditions: [],
    pods: running(40),
  })

  {
    let made = 0
    let answersLost = 0
    play('create each pod once, however stale their caches are', {
      act: async (cluster, { trouble }) => {
        made = 0
        answersLost = trouble.loseAnswerOf === undefined ? 0 : 1
        cluster.intercept(async (request, next) => {
          const response = await next(request)
          if (request.method === 'POST' && request.path.endsWith('/pods') && response.status === 201) made++
          return response
        })
        await create(cluster, { replicas: 7 })
        await scale(cluster, 12)
      },
      // If the response to a create is lost, the pod may be created again before it is observed.
      look: async cluster => [(await podsOf(cluster)).length, made <= 12 + answersLost],
      end: [12, true],
    })
  }

  scenario(
    'grow',
    async cluster => {
      await create(cluster)
      await scale(cluster, 5)
    },
    { counts: '5,5,5,5,0', conditions: [], pods: running(5) },
  )

  scenario(
    'shrink',
    async cluster => {
      await create(cluster)
      await scale(cluster, 1)
    },
    { counts: '1,1,1,1,0', conditions: [], pods: running(1) },
  )

  scenario(
    'scale down to zero',
    async cluster => {
      await create(cluster)
      await scale(cluster, 0)
    },
    { counts: '0,0,0,0,0', conditions: [], pods: [] },
  )

  scenario(
    'replace a deleted pod',
    async cluster => {
      await create(cluster)
      await cluster.run(cluster.client.delete(Pod, await anyPod(cluster)))
    },
    whole,
  )

  scenario(
    'replace a failed pod without deleting it',
    async cluster => {
      await create(cluster)
      const of = await anyPod(cluster)
      const pod = (await cluster.run(cluster.client.get(Pod, of)))!
      await cluster.run(
        cluster.client.updateStatus(Pod, { ...pod, status: { ...pod.status, phase: 'Failed' } }),
      )
    },
    { ...whole, pods: ['mine Failed', ...running(3)] },
  )

  scenario('count pods that are not ready', cluster => create(cluster, {}, 'broken'), {
    counts: '3,3,0,0,0',
    conditions: [],
    pods: running(3),
  })

  scenario(
    'count pods as available after minReadySeconds',
    cluster => create(cluster, { minReadySeconds: 30 }),
    whole,
  )

  scenario(
    'release and replace a pod whose labels no longer match',
    async cluster => {
      await create(cluster)
      await patchPod(cluster, await anyPod(cluster), { labels: { app: 'other' } })
    },
    { ...whole, pods: [...running(3), ...running(1, 'orphan')] },
  )

  scenario(
    'adopt a matching pod that already existed',
    async cluster => {
      await createPod(cluster, 'stray')
      await create(cluster)
    },
    whole,
  )

  scenario(
    'do not adopt a pod of another controller',
    async cluster => {
      const { metadata } = await cluster.run(
        cluster.client.create(ConfigMap, { metadata: { namespace, name: 'x' } }),
      )
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: metadata.uid, controller: true }
      await createPod(cluster, 'stray', { ownerReferences: [owner] })
      await create(cluster)
    },
    { ...whole, pods: ['another Running', ...running(3)] },
  )

  scenario(
    'do not adopt pods while they are terminating',
    async cluster => {
      await create(cluster, { replicas: 1 })
      await cluster.run(
        cluster.client.patch(ReplicaSet, key, { metadata: { finalizers: ['a.b/c'] } }, { type: 'merge' }),
      )
      await cluster.run(cluster.client.delete(ReplicaSet, key, { propagationPolicy: 'Background' }))
      await createPod(cluster, 'stray')
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'stray' }))
    },
    { counts: '1,1,1,1,0', conditions: [], pods: running(1) },
  )

  scenario(
    'report why they cannot create pods, and continue when they can',
    async cluster => {
      const quota = { namespace, name: 'none' }
      await cluster.run(
        cluster.client.create(ResourceQuota, { metadata: quota, spec: { hard: { pods: '0' } } }),
      )
      await cluster.run(
        cluster.client.patch(
          ResourceQuota,
          quota,
          { status: { hard: { pods: '0' }, used: { pods: '0' } } },
          {
            type: 'merge',
            subresource: 'status',
          },
        ),
      )
      await create(cluster)
      const set = (await cluster.run(cluster.client.get(ReplicaSet, key)))!
      const [failure] = set.status?.conditions ?? []
      if (failure?.reason !== 'FailedCreate')
        throw new Error(`the quota is not reported: ${JSON.stringify(set.status)}`)
      await cluster.run(cluster.client.delete(ResourceQuota, quota))
      await cluster.advance(120_000)
    },
    whole,
  )

  scenario(
    'keep the pod with the highest deletion cost',
    async cluster => {
      await create(cluster)
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '10' }
      await patchPod(cluster, await anyPod(cluster), { annotations, labels: { kept: 'yes' } })
      await cluster.advance(20_000)
      await scale(cluster, 1)
      await cluster.advance(20_000)
      const [left] = await podsOf(cluster)
      if (left?.metadata.labels?.kept !== 'yes') throw new Error('another pod was kept')
    },
    { counts: '1,1,1,1,0', conditions: [], pods: running(1) },
  )

  scenario(
    'count terminating pods',
    async cluster => {
      await create(cluster)
      const of = await anyPod(cluster)
      await patchPod(cluster, of, { finalizers: ['a.b/c'] })
      await cluster.run(cluster.client.delete(Pod, of))
      await cluster.advance(5_000)
    },
    { ...whole, counts: '3,3,3,3,1', pods: running(4) },
  )
})

describe('ReplicationControllers, with faults injected into their controller', () => {
  const look = async (cluster: Cluster) => {
    const { status } = (await cluster.run(cluster.client.get(ReplicationController, key)))!
    return [status?.replicas, status?.readyReplicas, (await podsOf(cluster)).length].join()
  }
  const createController = async (cluster: Cluster, spec: object = {}) => {
    await cluster.run(
      cluster.client.create(ReplicationController, {
        metadata: key,
        spec: { replicas: 3, selector: labels, template: templateOf('one'), ...spec },
      }),
    )
    await cluster.advance(5_000)
  }

  const manage = scenariosOf('replicationcontroller-controller', {
    controllers,
    others: () => [createObedientPods()],
    look,
  })

  manage('create their pods', { act: cluster => createController(cluster), end: '3,3,3' })

  manage('scale up, scale down and replace pods', {
    act: async cluster => {
      await createController(cluster)
      for (const replicas of [5, 2]) {
        await cluster.run(
          cluster.client.patch(ReplicationController, key, { spec: { replicas } }, { type: 'merge' }),
        )
        await cluster.advance(5_000)
      }
      await cluster.run(cluster.client.delete(Pod, await anyPod(cluster)))
    },
    end: '2,2,2',
  })
})
