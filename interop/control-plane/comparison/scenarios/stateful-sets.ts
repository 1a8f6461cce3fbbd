import { StatefulSet } from '@coxswain/api/apps/v1'
import { PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import type { Scenario, Stage } from '../stage.ts'
import { brokenNeverReady, labels, podsReady, podTemplate } from './workload.ts'

const volumeClaimTemplates = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
]
const create = (stage: Stage, spec: object = {}, image = 'one') =>
  stage.create(StatefulSet, 'web', {
    spec: {
      replicas: 3,
      serviceName: 'web',
      selector: { matchLabels: labels },
      template: podTemplate(image),
      ...spec,
    },
  })
const patch = (stage: Stage, spec: object) => stage.patch(StatefulSet, 'web', { spec })
const setImage = (stage: Stage, image: string) => patch(stage, { template: podTemplate(image) })
const rolledOut = (stage: Stage) =>
  stage.until('rolled out', async () => {
    const { metadata, spec, status } = (await stage.get(StatefulSet, 'web'))!
    return (
      status?.observedGeneration === metadata.generation &&
      status?.currentRevision === status?.updateRevision &&
      (status?.availableReplicas ?? 0) === spec?.replicas &&
      (status?.replicas ?? 0) === spec?.replicas
    )
  })
const up = async (stage: Stage, spec?: object) => {
  await create(stage, spec)
  await rolledOut(stage)
}
const deletePod = async (stage: Stage, name: string) => {
  const uid = (await stage.get(Pod, name))?.metadata.uid
  await stage.remove(Pod, name)
  await stage.until('it is deleted', async () => (await stage.get(Pod, name))?.metadata.uid !== uid)
}
const remove = (stage: Stage, propagationPolicy: 'Background' | 'Foreground' | 'Orphan') =>
  stage.remove(StatefulSet, 'web', { propagationPolicy })
const gone = (stage: Stage) =>
  stage.until('gone', async () => (await stage.get(StatefulSet, 'web')) === undefined)
const withClaims = (whenScaled: string, whenDeleted: string) => ({
  replicas: 2,
  volumeClaimTemplates,
  persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted },
})
const claimsAre = (stage: Stage, count: number) =>
  stage.until(`${count} claims`, async () => (await stage.list(PersistentVolumeClaim)).length === count)

export const statefulSetScenarios: readonly Scenario[] = [
  { name: 'comes up in order', act: stage => up(stage) },
  { name: 'with no replicas', act: stage => create(stage, { replicas: 0 }) },
  { name: 'comes up in parallel', act: stage => up(stage, { podManagementPolicy: 'Parallel' }) },
  {
    name: 'stops at a pod that does not get ready',
    script: brokenNeverReady,
    act: stage => create(stage, {}, 'broken'),
  },
  {
    name: 'in parallel does not wait',
    script: brokenNeverReady,
    act: stage => create(stage, { podManagementPolicy: 'Parallel' }, 'broken'),
  },
  {
    name: 'scales up',
    act: async stage => {
      await up(stage, { replicas: 1 })
      await patch(stage, { replicas: 3 })
      await rolledOut(stage)
    },
  },
  {
    name: 'scales down from the top',
    act: async stage => {
      await up(stage)
      await patch(stage, { replicas: 1 })
      await rolledOut(stage)
    },
  },
  {
    name: 'scales to nothing in parallel',
    act: async stage => {
      await up(stage, { podManagementPolicy: 'Parallel' })
      await patch(stage, { replicas: 0 })
      await rolledOut(stage)
    },
  },
  {
    name: 'replaces a pod that is deleted',
    act: async stage => {
      await up(stage)
      await deletePod(stage, 'web-1')
      await podsReady(stage, 3)
    },
  },
  {
    name: 'replaces a pod that failed',
    script: (_, nth) => (nth === 1 ? 1 : 'ready'),
    act: async stage => {
      await create(stage, { replicas: 2 })
      await podsReady(stage, 2)
    },
  },
  {
    name: 'rolls out from the top',
    act: async stage => {
      await up(stage)
      await setImage(stage, 'two')
      await rolledOut(stage)
    },
  },
  {
    name: 'rolls back: the old revision becomes the newest',
    act: async stage => {
      await up(stage, { replicas: 2 })
      await setImage(stage, 'two')
      await rolledOut(stage)
      await setImage(stage, 'one')
      await rolledOut(stage)
    },
  },
  {
    name: 'updates only from the partition on',
    act: async stage => {
      await up(stage, { updateStrategy: { rollingUpdate: { partition: 2 } } })
      await setImage(stage, 'two')
      await stage.until(
        'one is new',
        async () => (await stage.get(StatefulSet, 'web'))?.status?.updatedReplicas === 1,
      )
      await deletePod(stage, 'web-0')
      await podsReady(stage, 3)
    },
  },
  {
    name: 'goes on when the partition is lowered',
    act: async stage => {
      await up(stage, { updateStrategy: { rollingUpdate: { partition: 2 } } })
      await setImage(stage, 'two')
      await stage.settle()
      await patch(stage, { updateStrategy: { rollingUpdate: { partition: 0 } } })
      await rolledOut(stage)
    },
  },
  {
    name: 'updates on deletion where it says so',
    act: async stage => {
      await up(stage, { updateStrategy: { type: 'OnDelete', rollingUpdate: null } })
      await setImage(stage, 'two')
      await stage.settle()
      await deletePod(stage, 'web-1')
      await podsReady(stage, 3)
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
    name: 'a broken update that is mended waits for its pod to be deleted',
    script: brokenNeverReady,
    act: async stage => {
      await up(stage)
      await setImage(stage, 'broken')
      await stage.settle()
      await setImage(stage, 'one')
      await stage.settle()
      await deletePod(stage, 'web-2')
      await podsReady(stage, 3)
    },
  },
  { name: 'begins to count where it says', act: stage => up(stage, { ordinals: { start: 5 }, replicas: 2 }) },
  {
    name: 'moves when the first ordinal changes',
    act: async stage => {
      await up(stage, { replicas: 2 })
      await patch(stage, { ordinals: { start: 1 } })
      await stage.until('it has moved', async () => (await stage.get(Pod, 'web-0')) === undefined)
      await podsReady(stage, 2)
    },
  },
  {
    name: 'waits for minReadySeconds between pods',
    act: stage => up(stage, { minReadySeconds: 3, replicas: 2 }),
  },
  {
    name: 'keeps no more revisions than it may',
    act: async stage => {
      await up(stage, { replicas: 1, revisionHistoryLimit: 1 })
      for (const image of ['two', 'three', 'four']) {
        await setImage(stage, image)
        await rolledOut(stage)
      }
    },
  },
  {
    name: 'adopts a pod of the right name',
    act: async stage => {
      await stage.create(Pod, 'web-0', { metadata: { labels }, spec: podTemplate('stray').spec })
      await create(stage, { replicas: 2, updateStrategy: { type: 'OnDelete' } })
      await podsReady(stage, 2)
    },
  },
  {
    name: 'releases a pod that is relabelled',
    chanceEvents: /FailedCreate/,
    act: async stage => {
      await up(stage, { replicas: 2 })
      await stage.patch(Pod, 'web-1', { metadata: { labels: { app: 'other' } } })
      await stage.until(
        'it is let go',
        async () => !(await stage.get(Pod, 'web-1'))?.metadata.ownerReferences,
      )
      await deletePod(stage, 'web-1')
      await podsReady(stage, 2)
    },
  },
  {
    name: 'is deleted in the foreground',
    act: async stage => {
      await up(stage, { replicas: 2 })
      await remove(stage, 'Foreground')
      await gone(stage)
    },
  },
  {
    name: 'takes over what another left',
    act: async stage => {
      await up(stage, { replicas: 2 })
      await remove(stage, 'Orphan')
      await gone(stage)
      await up(stage, { replicas: 2 })
    },
  },
  { name: 'claims are made and mounted', act: stage => up(stage, withClaims('Retain', 'Retain')) },
  {
    name: 'claims stay when pods go',
    act: async stage => {
      await up(stage, withClaims('Retain', 'Retain'))
      await patch(stage, { replicas: 0 })
      await podsReady(stage, 0)
    },
  },
  {
    name: 'claims go with a pod that is scaled away',
    act: async stage => {
      await up(stage, withClaims('Delete', 'Retain'))
      await patch(stage, { replicas: 1 })
      await claimsAre(stage, 1)
    },
  },
  {
    name: 'claims go with the set',
    act: async stage => {
      await up(stage, withClaims('Retain', 'Delete'))
      await remove(stage, 'Background')
      await claimsAre(stage, 0)
    },
  },
  {
    name: 'claims belong to the set when a policy says so later',
    act: async stage => {
      await up(stage, withClaims('Retain', 'Retain'))
      await patch(stage, { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } })
      await stage.until('they do', async () =>
        (await stage.list(PersistentVolumeClaim)).every(({ metadata }) => metadata.ownerReferences?.length),
      )
    },
  },
  {
    name: 'claims that belong to a pod when both policies delete',
    act: async stage => {
      await up(stage, withClaims('Delete', 'Delete'))
      await patch(stage, { replicas: 1 })
      await claimsAre(stage, 1)
    },
  },
]
