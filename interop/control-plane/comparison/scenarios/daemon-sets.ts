import { DaemonSet } from '@coxswain/api/apps/v1'
import { Pod } from '@coxswain/api/core/v1'
import type { Scenario, Stage } from '../stage.ts'
import { brokenNeverReady, deleteOnePod, labels, podsReady } from './workload.ts'

/** Every side has as many nodes. */
const nodes = 2

const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })
const create = (stage: Stage, spec: object = {}, image = 'one') =>
  stage.create(DaemonSet, 'agent', {
    spec: { selector: { matchLabels: labels }, template: template(image), ...spec },
  })
const up = async (stage: Stage, spec?: object) => {
  await create(stage, spec)
  await podsReady(stage, nodes)
}
const patch = (stage: Stage, spec: object) => stage.patch(DaemonSet, 'agent', { spec })
const setImage = (stage: Stage, image: string) => patch(stage, { template: template(image) })
const rolledOut = (stage: Stage) =>
  stage.until('rolled out', async () => {
    const { metadata, status } = (await stage.get(DaemonSet, 'agent'))!
    return (
      status?.observedGeneration === metadata.generation &&
      status?.updatedNumberScheduled === nodes &&
      status?.numberAvailable === nodes
    )
  })

export const daemonSetScenarios: readonly Scenario[] = [
  { name: 'runs on every node', act: stage => up(stage) },
  {
    name: 'rolls out one node at a time',
    act: async stage => {
      await up(stage)
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'rolls out with surge',
    act: async stage => {
      await up(stage, { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'rolls back',
    act: async stage => {
      await up(stage)
      await setImage(stage, 'two')
      await rolledOut(stage)
      await setImage(stage, 'one')
      await rolledOut(stage)
    },
  },
  {
    name: 'updates on deletion',
    act: async stage => {
      await up(stage, { updateStrategy: { type: 'OnDelete' } })
      await setImage(stage, 'two')
      await stage.settle()
      await deleteOnePod(stage, ({ spec }) => spec.nodeName === 'node-a')
      await podsReady(stage, nodes)
    },
  },
  {
    name: 'a broken update stands still',
    script: brokenNeverReady,
    act: async stage => {
      await up(stage)
      await setImage(stage, 'broken')
      await stage.settle()
    },
  },
  {
    name: 'only where the selector of nodes says so',
    act: async stage => {
      const { metadata, spec } = template('one')
      const selected = { metadata, spec: { ...spec, nodeSelector: { 'kubernetes.io/hostname': 'node-b' } } }
      await create(stage, { template: selected })
      await podsReady(stage, 1)
    },
  },
  {
    name: 'nowhere',
    act: async stage => {
      const { metadata, spec } = template('one')
      await create(stage, { template: { metadata, spec: { ...spec, nodeSelector: { no: 'where' } } } })
    },
  },
  {
    name: 'replaces a pod that failed',
    script: ({ spec }, nth) => (nth < nodes && spec.nodeName === 'node-a' ? 1 : 'ready'),
    act: async stage => {
      await create(stage)
      await podsReady(stage, nodes)
    },
  },
  {
    name: 'replaces a pod that is deleted',
    act: async stage => {
      await up(stage)
      await deleteOnePod(stage, ({ spec }) => spec.nodeName === 'node-a')
      await podsReady(stage, nodes)
    },
  },
  {
    name: 'waits for minReadySeconds',
    act: async stage => {
      await up(stage, { minReadySeconds: 3 })
      await rolledOut(stage)
    },
  },
  {
    name: 'keeps no more revisions than it may',
    act: async stage => {
      await up(stage, { revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) {
        await setImage(stage, image)
        await rolledOut(stage)
      }
    },
  },
  {
    name: 'is deleted in the foreground',
    act: async stage => {
      await up(stage)
      await stage.remove(DaemonSet, 'agent', { propagationPolicy: 'Foreground' })
      await stage.until(
        'gone',
        async () => (await stage.list(Pod)).length === 0 && !(await stage.get(DaemonSet, 'agent')),
      )
    },
  },
]
