import { describe } from 'node:test'
import { Deployment, ReplicaSet } from '@coxswain/api/apps/v1'
import { createDeploymentController, createReplicaSetController } from '@coxswain/controllers'
import type { Cluster } from '@coxswain/testing'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }
const revision = 'deployment.kubernetes.io/revision'
const controllers = () => [createReplicaSetController(), createDeploymentController()]
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })

async function create(cluster: Cluster, spec: object = {}, image = 'one'): Promise<void> {
  await cluster.run(
    cluster.client.create(Deployment, {
      metadata: key,
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: templateOf(image),
        ...spec,
      },
    }),
  )
  await cluster.advance(10_000)
}

async function patch(cluster: Cluster, spec: object, wait = 20_000): Promise<void> {
  await cluster.run(cluster.client.patch(Deployment, key, { spec }, { type: 'strategic' }))
  await cluster.advance(wait)
}

const setImage = (cluster: Cluster, image: string, wait?: number) =>
  patch(cluster, { template: { spec: { containers: [{ name: 'c', image }] } } }, wait)

async function setsOf(cluster: Cluster) {
  return (await cluster.run(cluster.client.list(ReplicaSet, { namespace }))).items
}

/** ReplicaSets as `image x replicas (ready), revision`, counts of the status (all, updated, ready, available), conditions. */
async function outcome(cluster: Cluster) {
  const deployment = (await cluster.run(cluster.client.get(Deployment, key)))!
  const { replicas, updatedReplicas, readyReplicas, availableReplicas, conditions } = deployment.status ?? {}
  const sets = (await setsOf(cluster)).map(({ metadata, spec, status }) => {
    const image = spec?.template?.spec?.containers[0]?.image
    const owner = metadata.ownerReferences ? '' : ' orphaned'
    return `${image} x ${spec?.replicas} (${status?.readyReplicas ?? 0}), ${metadata.annotations?.[revision]}${owner}`
  })
  return {
    sets: sets.sort(),
    counts: [replicas, updatedReplicas, readyReplicas, availableReplicas].map(count => count ?? 0).join(),
    conditions: (conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort(),
  }
}

const available = 'Available True MinimumReplicasAvailable'
const unavailable = 'Available False MinimumReplicasUnavailable'
const complete = 'Progressing True NewReplicaSetAvailable'
const whole = { counts: '4,4,4,4', conditions: [available, complete] }

const play = scenariosOf('deployment-controller', {
  controllers,
  others: () => [createObedientPods()],
  look: outcome,
})
const scenario = (name: string, act: Scenario['act'], end: object) => play(name, { act, end })

describe('Deployments, with faults injected into their controllers', () => {
  scenario('come up', cluster => create(cluster), { sets: ['one x 4 (4), 1'], ...whole })

  scenario(
    'roll out',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'two')
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'roll back to a ReplicaSet that still exists',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'two')
      await setImage(cluster, 'one')
    },
    { sets: ['one x 4 (4), 3', 'two x 0 (0), 2'], ...whole },
  )

  scenario(
    'switch to a third template during the rollout of the second',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'two', 700)
      await setImage(cluster, 'three')
    },
    { sets: ['one x 0 (0), 1', 'three x 4 (4), 3', 'two x 0 (0), 2'], ...whole },
  )

  scenario(
    'with maxUnavailable 0 wait for each new pod',
    async cluster => {
      await create(cluster, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
      await setImage(cluster, 'two', 40_000)
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'with maxSurge 0 delete old pods first',
    async cluster => {
      await create(cluster, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } })
      await setImage(cluster, 'two', 40_000)
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'stop at a template that does not become ready, within maxSurge and maxUnavailable',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'broken')
    },
    {
      sets: ['broken x 2 (0), 2', 'one x 3 (3), 1'],
      counts: '5,2,3,3',
      conditions: [available, 'Progressing True ReplicaSetUpdated'],
    },
  )

  scenario(
    'recover with the next template',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'broken')
      await setImage(cluster, 'two')
    },
    { sets: ['broken x 0 (0), 2', 'one x 0 (0), 1', 'two x 4 (4), 3'], ...whole },
  )

  scenario(
    'scale the ReplicaSets of a stuck rollout in proportion',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'broken')
      await patch(cluster, { replicas: 8 })
    },
    {
      sets: ['broken x 4 (0), 2', 'one x 6 (6), 1'],
      counts: '10,4,6,6',
      conditions: [available, 'Progressing True ReplicaSetUpdated'],
    },
  )

  scenario(
    'report an exceeded progress deadline, and later progress',
    async cluster => {
      await create(cluster, { progressDeadlineSeconds: 20 })
      await setImage(cluster, 'broken', 40_000)
      await setImage(cluster, 'two')
    },
    { sets: ['broken x 0 (0), 2', 'one x 0 (0), 1', 'two x 4 (4), 3'], ...whole },
  )

  scenario(
    'keep reporting an exceeded progress deadline',
    async cluster => {
      await create(cluster, { progressDeadlineSeconds: 20 }, 'broken')
      await cluster.advance(40_000)
    },
    {
      sets: ['broken x 4 (0), 1'],
      counts: '4,4,0,0',
      conditions: [unavailable, 'Progressing False ProgressDeadlineExceeded'],
    },
  )

  scenario(
    'recreate: delete all old pods before new ones are created',
    async cluster => {
      await create(cluster, { strategy: { type: 'Recreate' } })
      await setImage(cluster, 'two')
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'recreate from pods that never became ready',
    async cluster => {
      await create(cluster, { strategy: { type: 'Recreate' } }, 'broken')
      await setImage(cluster, 'two')
    },
    { sets: ['broken x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'grow',
    async cluster => {
      await create(cluster)
      await patch(cluster, { replicas: 7 })
    },
    { sets: ['one x 7 (7), 1'], counts: '7,7,7,7', conditions: [available, complete] },
  )

  scenario(
    'scale down to zero',
    async cluster => {
      await create(cluster)
      await patch(cluster, { replicas: 0 })
    },
    { sets: ['one x 0 (0), 1'], counts: '0,0,0,0', conditions: [available, complete] },
  )

  scenario(
    'scale and change the template at once',
    async cluster => {
      await create(cluster)
      const template = { spec: { containers: [{ name: 'c', image: 'two' }] } }
      await patch(cluster, { replicas: 6, template })
    },
    { sets: ['one x 0 (0), 1', 'two x 6 (6), 2'], counts: '6,6,6,6', conditions: [available, complete] },
  )

  scenario(
    'only scale while they are paused',
    async cluster => {
      await create(cluster)
      await patch(cluster, { paused: true })
      await setImage(cluster, 'two')
      await patch(cluster, { replicas: 2 })
    },
    {
      sets: ['one x 2 (2), 1'],
      counts: '2,0,2,2',
      conditions: [available, 'Progressing Unknown DeploymentPaused'],
    },
  )

  scenario(
    'pause in the middle of a rollout, and resume',
    async cluster => {
      await create(cluster)
      await setImage(cluster, 'broken', 5_000)
      await patch(cluster, { paused: true })
      await setImage(cluster, 'two')
      await patch(cluster, { paused: false })
    },
    { sets: ['broken x 0 (0), 2', 'one x 0 (0), 1', 'two x 4 (4), 3'], ...whole },
  )

  scenario(
    'created paused create nothing until they are resumed',
    async cluster => {
      await create(cluster, { paused: true })
      await patch(cluster, { paused: false })
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'keep as many old ReplicaSets as revisionHistoryLimit',
    async cluster => {
      await create(cluster, { revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) await setImage(cluster, image)
    },
    { sets: ['four x 4 (4), 4', 'three x 0 (0), 3'], ...whole },
  )

  scenario(
    'keep none',
    async cluster => {
      await create(cluster, { revisionHistoryLimit: 0 })
      await setImage(cluster, 'two')
    },
    { sets: ['two x 4 (4), 2'], ...whole },
  )

  scenario(
    'count pods as available after minReadySeconds',
    async cluster => {
      await create(cluster, { minReadySeconds: 20 })
      await cluster.advance(20_000)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'recreate a ReplicaSet that a user deleted',
    async cluster => {
      await create(cluster)
      const [set] = await setsOf(cluster)
      const name = set!.metadata.name
      await cluster.run(
        cluster.client.delete(ReplicaSet, { namespace, name }, { propagationPolicy: 'Background' }),
      )
      await cluster.advance(10_000)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'restore the scale of a ReplicaSet that a user changed',
    async cluster => {
      await create(cluster)
      const [set] = await setsOf(cluster)
      const scale = { spec: { replicas: 9 } }
      const of = { namespace, name: set!.metadata.name }
      await cluster.run(cluster.client.patch(ReplicaSet, of, scale, { type: 'merge' }))
      await cluster.advance(10_000)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'adopt a matching ReplicaSet, and use it if it has their template',
    async cluster => {
      await cluster.run(
        cluster.client.create(ReplicaSet, {
          metadata: { namespace, name: 'stray', labels },
          spec: { replicas: 1, selector: { matchLabels: labels }, template: templateOf('one') },
        }),
      )
      await cluster.advance(5_000)
      await create(cluster)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'release a ReplicaSet whose labels no longer match',
    async cluster => {
      await create(cluster)
      const [set] = await setsOf(cluster)
      const relabelled = { metadata: { labels: { app: 'other' } } }
      const of = { namespace, name: set!.metadata.name }
      await cluster.run(cluster.client.patch(ReplicaSet, of, relabelled, { type: 'merge' }))
      await cluster.advance(20_000)
    },
    { sets: ['one x 4 (4), 1', 'one x 4 (4), 1 orphaned'], ...whole },
  )
})
