import { Deployment, ReplicaSet } from '@coxswain/api/apps/v1'
import { Pod } from '@coxswain/api/core/v1'
import type { Scenario, Stage } from '../stage.ts'
import { brokenNeverReady, deleteOnePod, labels, podsReady, podTemplate } from './workload.ts'

const create = (stage: Stage, spec: object = {}, image = 'one') =>
  stage.create(Deployment, 'web', {
    spec: { replicas: 3, selector: { matchLabels: labels }, template: podTemplate(image), ...spec },
  })
const patch = (stage: Stage, spec: object) => stage.patch(Deployment, 'web', { spec })
const setImage = (stage: Stage, image: string) => patch(stage, { template: podTemplate(image) })

/** The rollout is over, and says so. */
const rolledOut = (stage: Stage) =>
  stage.until('rolled out', async () => {
    const { metadata, status, spec } = (await stage.get(Deployment, 'web'))!
    const { replicas = 1 } = spec ?? {}
    return (
      status?.observedGeneration === metadata.generation &&
      (status?.updatedReplicas ?? 0) === replicas &&
      (status?.replicas ?? 0) === replicas &&
      (status?.availableReplicas ?? 0) === replicas
    )
  })
const conditionIs = (stage: Stage, type: string, reason: string) =>
  stage.until(`${type} ${reason}`, async () => {
    const { status } = (await stage.get(Deployment, 'web'))!
    return status?.conditions?.some(each => each.type === type && each.reason === reason)
  })
const up = async (stage: Stage, spec?: object) => {
  await create(stage, spec)
  await rolledOut(stage)
}
const setsOf = (stage: Stage) => stage.list(ReplicaSet)
const unready = { script: brokenNeverReady }
/** A rolling update takes its steps as pods get ready: how many there are depends on the moment. */
const scalingSteps = { chanceEvents: /ScalingReplicaSet|Successful(Create|Delete)/, chanceGenerations: true }

export const deploymentScenarios: readonly Scenario[] = [
  { name: 'comes up', act: stage => up(stage) },
  { name: 'comes up with the defaults', act: stage => up(stage, { replicas: undefined }) },
  {
    name: 'with labels and annotations',
    act: stage =>
      up(stage, {
        replicas: 1,
        template: {
          ...podTemplate('one'),
          metadata: { labels: { ...labels, tier: 'front' }, annotations: { note: 'x' } },
        },
      }),
  },
  {
    name: 'with annotations of its own, of which the set gets a copy',
    act: async stage => {
      await stage.create(Deployment, 'web', {
        metadata: {
          annotations: { note: 'a', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
          labels: { team: 'x' },
        },
        spec: { replicas: 1, selector: { matchLabels: labels }, template: podTemplate('one') },
      })
      await rolledOut(stage)
      await stage.patch(Deployment, 'web', { metadata: { annotations: { note: 'b', more: 'c' } } })
    },
  },
  { name: 'with no replicas', act: stage => up(stage, { replicas: 0 }) },
  {
    name: 'rolls out with one at a time',
    ...scalingSteps,
    act: async stage => {
      await up(stage, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'rolls out without surge',
    ...scalingSteps,
    act: async stage => {
      await up(stage, { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } })
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'rolls out by percentages',
    ...scalingSteps,
    act: async stage => {
      await up(stage, {
        replicas: 5,
        strategy: { rollingUpdate: { maxSurge: '40%', maxUnavailable: '20%' } },
      })
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'rolls out, and back to the first revision',
    ...scalingSteps,
    act: async stage => {
      await up(stage)
      await setImage(stage, 'two')
      await rolledOut(stage)
      await setImage(stage, 'one')
      await rolledOut(stage)
    },
  },
  {
    name: 'goes back and forth, and the history of revisions is kept',
    ...scalingSteps,
    act: async stage => {
      await up(stage, { replicas: 1 })
      for (const image of ['two', 'one', 'two', 'one']) {
        await setImage(stage, image)
        await rolledOut(stage)
      }
    },
  },
  {
    name: 'recreates',
    act: async stage => {
      await up(stage, { strategy: { type: 'Recreate' }, replicas: 2 })
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'a template that never gets ready stands still within its limits',
    ...unready,
    act: async stage => {
      await up(stage, { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } })
      await setImage(stage, 'broken')
      await stage.settle()
    },
  },
  {
    name: 'a broken first template is not available',
    ...unready,
    act: async stage => {
      await create(stage, { replicas: 2 }, 'broken')
      await stage.settle()
    },
  },
  {
    name: 'a broken template is mended',
    ...unready,
    ...scalingSteps,
    act: async stage => {
      await up(stage)
      await setImage(stage, 'broken')
      await stage.settle()
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'scales up',
    act: async stage => {
      await up(stage)
      await patch(stage, { replicas: 5 })
      await rolledOut(stage)
    },
  },
  {
    name: 'scales down',
    act: async stage => {
      await up(stage, { replicas: 5 })
      await patch(stage, { replicas: 2 })
      await rolledOut(stage)
    },
  },
  {
    name: 'scales to nothing',
    act: async stage => {
      await up(stage)
      await patch(stage, { replicas: 0 })
      await rolledOut(stage)
    },
  },
  {
    name: 'scales in proportion in the middle of a rollout',
    ...unready,
    act: async stage => {
      await up(stage, { replicas: 6, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } })
      await setImage(stage, 'broken')
      await stage.settle()
      await patch(stage, { replicas: 12 })
      await stage.settle()
    },
  },
  {
    name: 'scales down in proportion in the middle of a rollout',
    ...unready,
    act: async stage => {
      await up(stage, { replicas: 8, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } })
      await setImage(stage, 'broken')
      await stage.settle()
      await patch(stage, { replicas: 4 })
      await stage.settle()
    },
  },
  {
    name: 'paused from the beginning makes no set',
    act: async stage => {
      await create(stage, { paused: true })
      await stage.settle()
    },
  },
  {
    name: 'paused: it scales, and does not roll out',
    act: async stage => {
      await up(stage)
      await patch(stage, { paused: true })
      await conditionIs(stage, 'Progressing', 'DeploymentPaused')
      await patch(stage, { replicas: 4, template: podTemplate('two') })
      await stage.settle()
    },
  },
  {
    name: 'resumed: it rolls out',
    ...scalingSteps,
    act: async stage => {
      await up(stage)
      await patch(stage, { paused: true })
      await setImage(stage, 'two')
      await stage.settle()
      await patch(stage, { paused: false })
      await rolledOut(stage)
    },
  },
  {
    name: 'keeps its history to its limit',
    ...scalingSteps,
    act: async stage => {
      await up(stage, { replicas: 1, revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) {
        await setImage(stage, image)
        await rolledOut(stage)
      }
    },
  },
  {
    name: 'keeps no history',
    ...scalingSteps,
    act: async stage => {
      await up(stage, { replicas: 1, revisionHistoryLimit: 0 })
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'says that the deadline is over',
    ...unready,
    act: async stage => {
      await create(stage, { replicas: 1, progressDeadlineSeconds: 4 }, 'broken')
      await conditionIs(stage, 'Progressing', 'ProgressDeadlineExceeded')
    },
  },
  {
    name: 'says that the deadline of a rollout is over, and gets on when it is mended',
    ...unready,
    ...scalingSteps,
    act: async stage => {
      await up(stage, { replicas: 2, progressDeadlineSeconds: 4 })
      await setImage(stage, 'broken')
      await conditionIs(stage, 'Progressing', 'ProgressDeadlineExceeded')
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'counts pods as available after minReadySeconds',
    act: stage => up(stage, { replicas: 2, minReadySeconds: 3 }),
  },
  {
    name: 'replaces a pod that is deleted',
    act: async stage => {
      await up(stage)
      await deleteOnePod(stage)
      await podsReady(stage, 3)
    },
  },
  {
    name: 'creates its ReplicaSet again when it is deleted',
    chanceEvents: /Pod: |pod: /,
    act: async stage => {
      await up(stage, { replicas: 1 })
      const [set] = await setsOf(stage)
      await stage.remove(ReplicaSet, set!.metadata.name)
      await stage.until('another', async () =>
        (await setsOf(stage)).some(({ metadata }) => metadata.uid !== set!.metadata.uid),
      )
      await stage.settle()
    },
  },
  {
    name: 'corrects its ReplicaSet when it is scaled',
    act: async stage => {
      await up(stage)
      const [set] = await setsOf(stage)
      await stage.patch(ReplicaSet, set!.metadata.name, { spec: { replicas: 1 } })
      await podsReady(stage, 3)
    },
  },
  {
    name: 'adopts a set of the same template',
    act: async stage => {
      await stage.create(ReplicaSet, 'old', {
        metadata: { labels },
        spec: { replicas: 2, selector: { matchLabels: labels }, template: podTemplate('one') },
      })
      await podsReady(stage, 2)
      await create(stage, { replicas: 2 })
      await stage.settle()
    },
  },
  {
    name: 'orphans its set',
    act: async stage => {
      await up(stage, { replicas: 1 })
      await stage.remove(Deployment, 'web', { propagationPolicy: 'Orphan' })
      await stage.until('gone', async () => (await stage.get(Deployment, 'web')) === undefined)
    },
  },
  {
    name: 'takes everything along in the foreground',
    act: async stage => {
      await up(stage, { replicas: 2 })
      await stage.remove(Deployment, 'web', { propagationPolicy: 'Foreground' })
      await stage.until(
        'gone',
        async () =>
          (await stage.list(Pod)).length === 0 && (await stage.get(Deployment, 'web')) === undefined,
      )
    },
  },
  {
    name: 'takes everything along in the background',
    act: async stage => {
      await up(stage, { replicas: 2 })
      await stage.remove(Deployment, 'web')
      await stage.until('gone', async () => (await stage.list(Pod)).length === 0)
    },
  },
  {
    name: 'with a selector that takes everything does nothing but say so',
    act: async stage => {
      await stage
        .create(Deployment, 'web', {
          spec: { replicas: 1, selector: { matchExpressions: [] }, template: podTemplate('one') },
        })
        .catch(() => {})
      await stage.settle()
    },
  },
  {
    name: 'says that pods cannot be made',
    chanceEvents: /FailedCreate/,
    act: async stage => {
      await create(stage, {
        replicas: 1,
        template: {
          ...podTemplate('one'),
          spec: { ...podTemplate('one').spec, serviceAccountName: 'missing' },
        },
      })
      await conditionIs(stage, 'ReplicaFailure', 'FailedCreate')
      await stage.settle(500)
    },
  },
  {
    name: 'a restart is a new revision',
    ...scalingSteps,
    act: async stage => {
      await up(stage, { replicas: 2 })
      const annotations = { 'kubectl.kubernetes.io/restartedAt': 'now' }
      await patch(stage, { template: { metadata: { annotations } } })
      await rolledOut(stage)
    },
  },
]
