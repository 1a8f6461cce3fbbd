import { describe, it } from 'node:test'
import { Deployment, ReplicaSet } from '@coxswain/api/apps/v1'
import { createDeploymentController, createReplicaSetController } from '@coxswain/controllers'
import { type Play, playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const namespace = 'default'
const key = { namespace, name: 'web' }
const labels = { app: 'web' }
const revision = 'deployment.kubernetes.io/revision'
const operators = () => [createReplicaSetController(), createDeploymentController()]
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })

async function create(stage: WorkloadStage, spec: object = {}, image = 'one'): Promise<void> {
  await stage.run(
    stage.client.create(Deployment, {
      metadata: key,
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: templateOf(image),
        ...spec,
      },
    }),
  )
  await stage.later(10_000)
}

async function patch(stage: WorkloadStage, spec: object, wait = 20_000): Promise<void> {
  await stage.run(stage.client.patch(Deployment, key, { spec }, { type: 'strategic' }))
  await stage.later(wait)
}

const setImage = (stage: WorkloadStage, image: string, wait?: number) =>
  patch(stage, { template: { spec: { containers: [{ name: 'c', image }] } } }, wait)

async function setsOf(stage: WorkloadStage) {
  return (await stage.run(stage.client.list(ReplicaSet, { namespace }))).items
}

/** Sets as `image x replicas (ready), revision`, counts of the status (all, updated, ready, available), conditions. */
async function outcome(stage: WorkloadStage) {
  const deployment = (await stage.run(stage.client.get(Deployment, key)))!
  const { replicas, updatedReplicas, readyReplicas, availableReplicas, conditions } = deployment.status ?? {}
  const sets = (await setsOf(stage)).map(({ metadata, spec, status }) => {
    const image = spec?.template?.spec?.containers[0]?.image
    const owner = metadata.ownerReferences ? '' : ' of nobody'
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

const scenario = (name: string, act: Play['act'], expected: object) =>
  it(name, () => playWorkload({ operators, act, end: outcome }, expected))

describe('Deployments, whatever happens to their controllers', () => {
  scenario('come up', create, { sets: ['one x 4 (4), 1'], ...whole })

  scenario(
    'roll out',
    async stage => {
      await create(stage)
      await setImage(stage, 'two')
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'roll back to a set that is still there',
    async stage => {
      await create(stage)
      await setImage(stage, 'two')
      await setImage(stage, 'one')
    },
    { sets: ['one x 4 (4), 3', 'two x 0 (0), 2'], ...whole },
  )

  scenario(
    'turn to a third template while the second is on its way',
    async stage => {
      await create(stage)
      await setImage(stage, 'two', 700)
      await setImage(stage, 'three')
    },
    { sets: ['one x 0 (0), 1', 'three x 4 (4), 3', 'two x 0 (0), 2'], ...whole },
  )

  scenario(
    'with maxUnavailable 0 wait for each new pod',
    async stage => {
      await create(stage, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
      await setImage(stage, 'two', 40_000)
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'with maxSurge 0 make room first',
    async stage => {
      await create(stage, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } })
      await setImage(stage, 'two', 40_000)
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'stop at a template that does not get ready, within their bounds',
    async stage => {
      await create(stage)
      await setImage(stage, 'broken')
    },
    {
      sets: ['broken x 2 (0), 2', 'one x 3 (3), 1'],
      counts: '5,2,3,3',
      conditions: [available, 'Progressing True ReplicaSetUpdated'],
    },
  )

  scenario(
    'get over it with the next template',
    async stage => {
      await create(stage)
      await setImage(stage, 'broken')
      await setImage(stage, 'two')
    },
    { sets: ['broken x 0 (0), 2', 'one x 0 (0), 1', 'two x 4 (4), 3'], ...whole },
  )

  scenario(
    'share a change of scale among the sets of a rollout that is stuck',
    async stage => {
      await create(stage)
      await setImage(stage, 'broken')
      await patch(stage, { replicas: 8 })
    },
    {
      sets: ['broken x 4 (0), 2', 'one x 6 (6), 1'],
      counts: '10,4,6,6',
      conditions: [available, 'Progressing True ReplicaSetUpdated'],
    },
  )

  scenario(
    'say when their deadline is over, and when they have got on after all',
    async stage => {
      await create(stage, { progressDeadlineSeconds: 20 })
      await setImage(stage, 'broken', 40_000)
      await setImage(stage, 'two')
    },
    { sets: ['broken x 0 (0), 2', 'one x 0 (0), 1', 'two x 4 (4), 3'], ...whole },
  )

  scenario(
    'stay with their deadline over',
    async stage => {
      await create(stage, { progressDeadlineSeconds: 20 }, 'broken')
      await stage.later(40_000)
    },
    {
      sets: ['broken x 4 (0), 1'],
      counts: '4,4,0,0',
      conditions: [unavailable, 'Progressing False ProgressDeadlineExceeded'],
    },
  )

  scenario(
    'recreate: the old go before the new come',
    async stage => {
      await create(stage, { strategy: { type: 'Recreate' } })
      await setImage(stage, 'two')
    },
    { sets: ['one x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'recreate also from pods that never got ready',
    async stage => {
      await create(stage, { strategy: { type: 'Recreate' } }, 'broken')
      await setImage(stage, 'two')
    },
    { sets: ['broken x 0 (0), 1', 'two x 4 (4), 2'], ...whole },
  )

  scenario(
    'grow',
    async stage => {
      await create(stage)
      await patch(stage, { replicas: 7 })
    },
    { sets: ['one x 7 (7), 1'], counts: '7,7,7,7', conditions: [available, complete] },
  )

  scenario(
    'shrink to nothing',
    async stage => {
      await create(stage)
      await patch(stage, { replicas: 0 })
    },
    { sets: ['one x 0 (0), 1'], counts: '0,0,0,0', conditions: [available, complete] },
  )

  scenario(
    'grow and change at once',
    async stage => {
      await create(stage)
      const template = { spec: { containers: [{ name: 'c', image: 'two' }] } }
      await patch(stage, { replicas: 6, template })
    },
    { sets: ['one x 0 (0), 1', 'two x 6 (6), 2'], counts: '6,6,6,6', conditions: [available, complete] },
  )

  scenario(
    'stand still while they are paused, but for their scale',
    async stage => {
      await create(stage)
      await patch(stage, { paused: true })
      await setImage(stage, 'two')
      await patch(stage, { replicas: 2 })
    },
    {
      sets: ['one x 2 (2), 1'],
      counts: '2,0,2,2',
      conditions: [available, 'Progressing Unknown DeploymentPaused'],
    },
  )

  scenario(
    'pause in the middle, and go on',
    async stage => {
      await create(stage)
      await setImage(stage, 'broken', 5_000)
      await patch(stage, { paused: true })
      await setImage(stage, 'two')
      await patch(stage, { paused: false })
    },
    { sets: ['broken x 0 (0), 2', 'one x 0 (0), 1', 'two x 4 (4), 3'], ...whole },
  )

  scenario(
    'created paused make nothing until they may',
    async stage => {
      await create(stage, { paused: true })
      await patch(stage, { paused: false })
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'keep as many old sets as they say',
    async stage => {
      await create(stage, { revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) await setImage(stage, image)
    },
    { sets: ['four x 4 (4), 4', 'three x 0 (0), 3'], ...whole },
  )

  scenario(
    'keep none',
    async stage => {
      await create(stage, { revisionHistoryLimit: 0 })
      await setImage(stage, 'two')
    },
    { sets: ['two x 4 (4), 2'], ...whole },
  )

  scenario(
    'count pods as available when they have been ready for long enough',
    async stage => {
      await create(stage, { minReadySeconds: 20 })
      await stage.later(20_000)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'make a set again that somebody has deleted',
    async stage => {
      await create(stage)
      const [set] = await setsOf(stage)
      const name = set!.metadata.name
      await stage.run(
        stage.client.delete(ReplicaSet, { namespace, name }, { propagationPolicy: 'Background' }),
      )
      await stage.later(10_000)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'put back the scale of a set that somebody has changed',
    async stage => {
      await create(stage)
      const [set] = await setsOf(stage)
      const scale = { spec: { replicas: 9 } }
      const of = { namespace, name: set!.metadata.name }
      await stage.run(stage.client.patch(ReplicaSet, of, scale, { type: 'merge' }))
      await stage.later(10_000)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'adopt a set that fits, and use it when it has their template',
    async stage => {
      await stage.run(
        stage.client.create(ReplicaSet, {
          metadata: { namespace, name: 'stray', labels },
          spec: { replicas: 1, selector: { matchLabels: labels }, template: templateOf('one') },
        }),
      )
      await stage.later(5_000)
      await create(stage)
    },
    { sets: ['one x 4 (4), 1'], ...whole },
  )

  scenario(
    'release a set whose labels no longer fit',
    async stage => {
      await create(stage)
      const [set] = await setsOf(stage)
      const relabelled = { metadata: { labels: { app: 'other' } } }
      const of = { namespace, name: set!.metadata.name }
      await stage.run(stage.client.patch(ReplicaSet, of, relabelled, { type: 'merge' }))
      await stage.later(20_000)
    },
    { sets: ['one x 4 (4), 1', 'one x 4 (4), 1 of nobody'], ...whole },
  )
})
