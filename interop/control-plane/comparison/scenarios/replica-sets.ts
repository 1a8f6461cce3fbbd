import { ReplicaSet } from '@coxswain/api/apps/v1'
import { Pod, ReplicationController } from '@coxswain/api/core/v1'
import type { Scenario, Stage } from '../stage.ts'
import { brokenNeverReady, deleteOnePod, labels, podsReady, podTemplate } from './workload.ts'

const create = (stage: Stage, spec: object = {}, image = 'one') =>
  stage.create(ReplicaSet, 'web', {
    spec: { replicas: 3, selector: { matchLabels: labels }, template: podTemplate(image), ...spec },
  })
const up = async (stage: Stage, count = 3) => {
  await create(stage, { replicas: count })
  await podsReady(stage, count)
}
const patch = (stage: Stage, spec: object) => stage.patch(ReplicaSet, 'web', { spec })
const stray = (stage: Stage, name: string, more: object = {}) =>
  stage.create(Pod, name, { metadata: { labels, ...more }, spec: podTemplate('stray').spec })

export const replicaSetScenarios: readonly Scenario[] = [
  { name: 'gets as many pods as it says', act: stage => up(stage) },
  { name: 'with no replicas', act: stage => create(stage, { replicas: 0 }) },
  {
    name: 'scales up',
    act: async stage => {
      await up(stage, 1)
      await patch(stage, { replicas: 4 })
      await podsReady(stage, 4)
    },
  },
  {
    name: 'scales to nothing',
    act: async stage => {
      await up(stage)
      await patch(stage, { replicas: 0 })
      await podsReady(stage, 0)
    },
  },
  {
    name: 'scales down, those that are not ready first',
    script: (_, nth) => (nth === 1 ? 'unready' : 'ready'),
    act: async stage => {
      await create(stage)
      await stage.settle()
      await patch(stage, { replicas: 2 })
      await podsReady(stage, 2)
    },
  },
  {
    name: 'scales down, the cheapest first',
    act: async stage => {
      await up(stage)
      const [keep] = [...(await stage.list(Pod))].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '10' }
      await stage.patch(Pod, keep!.metadata.name, { metadata: { annotations } })
      await stage.settle(500)
      await patch(stage, { replicas: 1 })
      await podsReady(stage, 1)
    },
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
    name: 'replaces a pod that failed',
    script: (_, nth) => (nth === 0 ? 1 : 'ready'),
    act: async stage => {
      await create(stage, { replicas: 2 })
      await stage.until(
        'both are ready',
        async () => (await stage.get(ReplicaSet, 'web'))?.status?.readyReplicas === 2,
      )
    },
  },
  {
    name: 'releases a pod that is relabelled',
    act: async stage => {
      await up(stage, 2)
      const [pod] = await stage.list(Pod)
      await stage.patch(Pod, pod!.metadata.name, { metadata: { labels: { app: 'other' } } })
      await podsReady(stage, 3)
    },
  },
  {
    name: 'adopts a pod that fits instead of making one',
    act: async stage => {
      await stray(stage, 'stray')
      await create(stage, { replicas: 2 })
      await podsReady(stage, 2)
    },
  },
  {
    name: 'deletes a stray that is one too many',
    act: async stage => {
      await up(stage, 2)
      await stray(stage, 'stray')
      await stage.until('it is taken in and out', async () => (await stage.get(Pod, 'stray')) === undefined)
    },
  },
  {
    name: 'leaves the pods of another controller alone',
    act: async stage => {
      const selector = { ...labels, by: 'other' }
      const template = { ...podTemplate('other'), metadata: { labels: selector } }
      await stage.create(ReplicationController, 'other', { spec: { replicas: 1, selector, template } })
      await podsReady(stage, 1)
      await create(stage, { replicas: 1 })
      await podsReady(stage, 2)
    },
  },
  {
    name: 'counts fully labelled, ready and available pods apart',
    script: brokenNeverReady,
    act: async stage => {
      await create(stage, { replicas: 2 }, 'broken')
      await stage.settle()
      await patch(stage, { template: { metadata: { labels: { ...labels, more: 'x' } } } })
      await stage.settle()
    },
  },
  {
    name: 'counts pods as available after minReadySeconds',
    act: async stage => {
      await create(stage, { replicas: 2, minReadySeconds: 3 })
      await stage.until(
        'available',
        async () => (await stage.get(ReplicaSet, 'web'))?.status?.availableReplicas === 2,
      )
    },
  },
  {
    name: 'says that pods cannot be made, and gets over it',
    chanceEvents: /FailedCreate/,
    act: async stage => {
      const template = podTemplate('one')
      await create(stage, {
        replicas: 1,
        template: { ...template, spec: { ...template.spec, priorityClassName: 'nothing' } },
      })
      await stage.until(
        'it says so',
        async () => (await stage.get(ReplicaSet, 'web'))?.status?.conditions?.length,
      )
      await stage.patch(ReplicaSet, 'web', { spec: { template: { spec: { priorityClassName: null } } } })
      await podsReady(stage, 1)
    },
  },
  {
    name: 'is deleted and orphans its pods',
    act: async stage => {
      await up(stage, 2)
      await stage.remove(ReplicaSet, 'web', { propagationPolicy: 'Orphan' })
      await stage.until('gone', async () => (await stage.get(ReplicaSet, 'web')) === undefined)
    },
  },
  {
    name: 'takes over the pods that another left',
    act: async stage => {
      await up(stage, 2)
      await stage.remove(ReplicaSet, 'web', { propagationPolicy: 'Orphan' })
      await stage.until('gone', async () => (await stage.get(ReplicaSet, 'web')) === undefined)
      await create(stage, { replicas: 2 })
      await stage.settle()
    },
  },
  {
    name: 'is deleted in the foreground',
    act: async stage => {
      await up(stage, 2)
      await stage.remove(ReplicaSet, 'web', { propagationPolicy: 'Foreground' })
      await stage.until('gone', async () => (await stage.get(ReplicaSet, 'web')) === undefined)
    },
  },
  {
    name: 'replication controller: comes up, scales, replaces',
    act: async stage => {
      await stage.create(ReplicationController, 'web', {
        spec: { replicas: 2, selector: labels, template: podTemplate('one') },
      })
      await podsReady(stage, 2)
      await stage.patch(ReplicationController, 'web', { spec: { replicas: 3 } })
      await podsReady(stage, 3)
      await deleteOnePod(stage)
      await podsReady(stage, 3)
    },
  },
]
