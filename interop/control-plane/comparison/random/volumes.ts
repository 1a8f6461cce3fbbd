import { PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import { labels } from '../scenarios/workload.ts'
import type { Stage } from '../stage.ts'
import { endNamespace } from './bystanders.ts'
import { type Action, type Draw, drawActions, type Family } from './draw.ts'
import { failPod } from './pods-by-hand.ts'

/** Volumes and classes are cluster-wide: each sequence has its own, and keeps to them. */
const own = (stage: Stage, name: string) => (name === '' ? '' : `${stage.namespace}-of-${name}`)
const classes = ['slow', 'late', 'none', '']
const modes = [['ReadWriteOnce'], ['ReadOnlyMany', 'ReadWriteOnce'], ['ReadWriteMany']]
const sizes = ['1Gi', '2Gi', '3Gi']

const makeClasses: Action = {
  say: 'classes',
  run: async stage => {
    const make = (name: string, spec: object) =>
      stage.client.create(StorageClass, { metadata: { name: own(stage, name) }, ...spec } as never)
    await make('slow', { provisioner: 'example.com/slow', allowVolumeExpansion: true })
    await make('late', { provisioner: 'example.com/late', volumeBindingMode: 'WaitForFirstConsumer' })
    await make('none', { provisioner: 'kubernetes.io/no-provisioner' })
  },
}
const makeVolume = (draw: Draw): Action => {
  const name = `pv-${draw.below(4)}`
  const storageClass = draw.pick(classes)
  const claim = draw.chance(0.3) ? `claim-${draw.below(3)}` : undefined
  const labelled = draw.chance(0.3)
  const spec = {
    capacity: { storage: draw.pick(sizes) },
    accessModes: draw.pick(modes),
    persistentVolumeReclaimPolicy: draw.pick(['Retain', 'Delete', 'Recycle']),
    volumeMode: draw.chance(0.1) ? 'Block' : 'Filesystem',
    csi: { driver: 'example.com', volumeHandle: name },
  }
  return {
    say: `${name} of class ${storageClass} for ${claim} ${labelled} ${JSON.stringify(spec)}`,
    run: stage =>
      stage.client.create(PersistentVolume, {
        metadata: { name: own(stage, name), labels: labelled ? { disk: 'ssd' } : {} },
        spec: {
          ...spec,
          storageClassName: own(stage, storageClass),
          ...(claim && { claimRef: { namespace: stage.namespace, name: claim } }),
        },
      } as never),
  }
}
const makeClaim = (draw: Draw): Action => {
  const name = `claim-${draw.below(3)}`
  const storageClass = draw.pick(classes)
  const volume = draw.chance(0.2) ? `pv-${draw.below(4)}` : undefined
  const spec = {
    accessModes: draw.pick([['ReadWriteOnce'], ['ReadOnlyMany'], ['ReadWriteMany']]),
    resources: { requests: { storage: draw.pick(sizes) } },
    ...(draw.chance(0.2) && { selector: { matchLabels: { disk: 'ssd' } } }),
  }
  return {
    say: `${name} of class ${storageClass} wants ${volume} ${JSON.stringify(spec)}`,
    run: stage =>
      stage.create(PersistentVolumeClaim, name, {
        spec: {
          ...spec,
          storageClassName: own(stage, storageClass),
          ...(volume && { volumeName: own(stage, volume) }),
        },
      }),
  }
}
const makePod = (draw: Draw): Action => {
  const name = `pod-${draw.below(3)}`
  const claim = `claim-${draw.below(3)}`
  const isEphemeral = draw.chance(0.3)
  const image = draw.pick(['one', 'one', 'exit-0'])
  const isPlaced = draw.chance(0.7)
  const volume = (stage: Stage) =>
    isEphemeral
      ? {
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { labels },
              spec: {
                accessModes: ['ReadWriteOnce'],
                storageClassName: own(stage, 'slow'),
                resources: { requests: { storage: '1Gi' } },
              },
            },
          },
        }
      : { persistentVolumeClaim: { claimName: claim } }
  return {
    say: `${name} ${image} with ${isEphemeral ? 'a volume of its own' : claim}${isPlaced ? '' : ', not placed'}`,
    run: stage =>
      stage.create(Pod, name, {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          ...(isPlaced && { nodeName: 'node-a' }),
          containers: [{ name: 'c', image }],
          volumes: [{ name: 'data', ...volume(stage) }],
        },
      }),
  }
}
const remove = (draw: Draw): Action => {
  const [kind, prefix] = draw.pick([
    [Pod, 'pod'],
    [PersistentVolumeClaim, 'claim'],
    [PersistentVolumeClaim, 'claim'],
  ] as const)
  const name = `${prefix}-${draw.below(3)}`
  return { say: `${name} deleted`, run: stage => stage.remove(kind, name) }
}
const removeVolume = (draw: Draw): Action => {
  const name = `pv-${draw.below(4)}`
  return {
    say: `${name} deleted`,
    run: stage => stage.client.delete(PersistentVolume, { name: own(stage, name) }),
  }
}
const patchVolume = (draw: Draw): Action => {
  const name = `pv-${draw.below(4)}`
  const spec = draw.pick<object>([
    { persistentVolumeReclaimPolicy: 'Retain' },
    { persistentVolumeReclaimPolicy: 'Delete' },
    { claimRef: null },
    { claimRef: { uid: null, resourceVersion: null } },
    { capacity: { storage: '5Gi' } },
  ])
  return {
    say: `${name} ${JSON.stringify(spec)}`,
    run: stage =>
      stage.client.patch(PersistentVolume, { name: own(stage, name) }, { spec } as never, { type: 'merge' }),
  }
}
const growClaim = (draw: Draw): Action => {
  const name = `claim-${draw.below(3)}`
  const storage = draw.pick(['3Gi', '4Gi'])
  return {
    say: `${name} wants ${storage}`,
    run: stage =>
      stage.patch(PersistentVolumeClaim, name, { spec: { resources: { requests: { storage } } } }),
  }
}
/** As a provisioner or the scheduler would. */
const annotateClaim = (draw: Draw): Action => {
  const name = `claim-${draw.below(3)}`
  return {
    say: `${name} has its node`,
    run: stage =>
      stage.patch(PersistentVolumeClaim, name, {
        metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'node-a' } },
      }),
  }
}

export const volumes: Family = draw => ({
  actions: [
    makeClasses,
    ...drawActions(draw, 3, [makeVolume, makeClaim]),
    ...drawActions(draw, 8, [
      makeVolume,
      makeVolume,
      makeClaim,
      makeClaim,
      makePod,
      remove,
      remove,
      removeVolume,
      patchVolume,
      growClaim,
      annotateClaim,
      failPod,
    ]),
    ...(draw.chance(0.1) ? endNamespace : []),
  ],
  cleanUp: async stage => {
    const quietly = (done: Promise<unknown>) => done.catch(() => {})
    for (const name of ['pv-0', 'pv-1', 'pv-2', 'pv-3']) {
      const key = { name: own(stage, name) }
      const released = { metadata: { finalizers: null } }
      await quietly(stage.client.delete(PersistentVolume, key))
      await quietly(stage.client.patch(PersistentVolume, key, released as never, { type: 'merge' }))
    }
    for (const name of ['slow', 'late', 'none'])
      await quietly(stage.client.delete(StorageClass, { name: own(stage, name) }))
  },
})
