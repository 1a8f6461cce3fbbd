import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { StorageClass } from '@coxswain/api/storage/v1'
import {
  createEphemeralVolumeController,
  createLocalPathProvisioner,
  createPersistentVolumeBinderController,
  createPersistentVolumeClaimProtectionController,
  createPersistentVolumeExpanderController,
  createPersistentVolumeProtectionController,
  localPathProvisioner,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const controllers = () => [
  createPersistentVolumeBinderController(),
  createPersistentVolumeClaimProtectionController(),
  createPersistentVolumeProtectionController(),
  createPersistentVolumeExpanderController(),
  createEphemeralVolumeController(),
  createLocalPathProvisioner(),
]

const createVolume = (cluster: Cluster, name: string, storage: string, spec: object = {}) =>
  cluster.run(
    cluster.client.create(PersistentVolume, {
      metadata: { name, labels: { name } },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: `/tmp/${name}` },
        storageClassName: '',
        ...spec,
      },
    }),
  )

const createClaim = (cluster: Cluster, name: string, storage: string, spec: object = {}) =>
  cluster.run(
    cluster.client.create(PersistentVolumeClaim, {
      metadata: { name, namespace },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage } },
        storageClassName: '',
        ...spec,
      },
    }),
  )

const createClass = (cluster: Cluster, name: string, rest: object = {}) =>
  cluster.run(
    cluster.client.create(StorageClass, {
      metadata: { name },
      provisioner: localPathProvisioner,
      ...rest,
    }),
  )

const createPod = (cluster: Cluster, name: string, volume: object, nodeName?: string) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'data', ...volume }],
        ...(nodeName && { nodeName }),
      },
    }),
  )

const deleteClaim = (cluster: Cluster, name: string) =>
  cluster.run(cluster.client.delete(PersistentVolumeClaim, { namespace, name }))

/** `claim a Bound v 1Gi`, `volume v Bound a`: sorted. Generated names are shown as `*`. */
async function describeStorage(cluster: Cluster): Promise<string[]> {
  const { client } = cluster
  const claims = (await cluster.run(client.list(PersistentVolumeClaim))).items
  const volumes = (await cluster.run(client.list(PersistentVolume))).items
  const short = (name: string | undefined) => (name?.startsWith('pvc-') ? '*' : (name ?? '-'))
  return [
    ...claims.map(({ metadata, spec, status }) =>
      ['claim', metadata.name, status?.phase, short(spec?.volumeName), status?.capacity?.storage ?? '-'].join(
        ' ',
      ),
    ),
    ...volumes.map(({ metadata, spec, status }) =>
      ['volume', short(metadata.name), status?.phase, spec?.claimRef?.name ?? '-'].join(' '),
    ),
  ].sort()
}

const eventsOf = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.list(Event, { namespace }))).items.map(
    ({ reason, message }) => `${reason}: ${message}`,
  )

const local = { storageClassName: 'local' }

const plays: readonly (Pick<Scenario, 'act' | 'end'> & { readonly name: string; readonly of?: string })[] = [
  {
    name: 'a claim is bound to the smallest volume that matches',
    act: async cluster => {
      await createVolume(cluster, 'big', '10Gi')
      await createVolume(cluster, 'small', '2Gi')
      await createVolume(cluster, 'tiny', '500Mi')
      await createVolume(cluster, 'fast', '1Gi', { storageClassName: 'fast' })
      await createVolume(cluster, 'shared', '1Gi', { accessModes: ['ReadOnlyMany'] })
      await cluster.advance(5_000)
      await createClaim(cluster, 'a', '1Gi')
    },
    end: [
      'claim a Bound small 2Gi',
      'volume big Available -',
      'volume fast Available -',
      'volume shared Available -',
      'volume small Bound a',
      'volume tiny Available -',
    ],
  },
  {
    name: 'a pending claim is bound to a volume that is created later',
    act: async cluster => {
      await createClaim(cluster, 'a', '1Gi')
      await cluster.advance(5_000)
      await createVolume(cluster, 'v', '1Gi')
    },
    end: ['claim a Bound v 1Gi', 'volume v Bound a'],
  },
  {
    name: 'two claims do not share a volume',
    act: async cluster => {
      await createVolume(cluster, 'v', '1Gi')
      await cluster.advance(5_000)
      await createClaim(cluster, 'a', '1Gi')
      await createClaim(cluster, 'b', '1Gi')
    },
    end: ['claim a Bound v 1Gi', 'claim b Pending - -', 'volume v Bound a'],
  },
  {
    name: 'a selector chooses among volumes',
    act: async cluster => {
      await createVolume(cluster, 'v', '1Gi')
      await createVolume(cluster, 'w', '5Gi')
      await cluster.advance(5_000)
      await createClaim(cluster, 'a', '1Gi', { selector: { matchLabels: { name: 'w' } } })
    },
    end: ['claim a Bound w 5Gi', 'volume v Available -', 'volume w Bound a'],
  },
  {
    name: 'a volume reserved for a claim waits for it',
    act: async cluster => {
      await createVolume(cluster, 'v', '9Gi', { claimRef: { namespace, name: 'a' } })
      await createVolume(cluster, 'w', '1Gi')
      await cluster.advance(5_000)
      await createClaim(cluster, 'a', '1Gi')
    },
    end: ['claim a Bound v 9Gi', 'volume v Bound a', 'volume w Available -'],
  },
  {
    name: 'a claim that names a volume is bound to that one',
    act: async cluster => {
      await createVolume(cluster, 'v', '9Gi')
      await createVolume(cluster, 'w', '1Gi')
      await createClaim(cluster, 'a', '1Gi', { volumeName: 'v' })
      await cluster.advance(5_000)
      await createClaim(cluster, 'b', '1Gi', { volumeName: 'v' })
    },
    end: ['claim a Bound v 9Gi', 'claim b Pending v -', 'volume v Bound a', 'volume w Available -'],
  },
  {
    name: 'a retained volume is kept when its claim is deleted',
    act: async cluster => {
      await createVolume(cluster, 'v', '1Gi')
      await createClaim(cluster, 'a', '1Gi')
      await cluster.advance(5_000)
      await deleteClaim(cluster, 'a')
      await cluster.advance(5_000)
      await createClaim(cluster, 'a', '1Gi')
    },
    end: ['claim a Pending - -', 'volume v Released a'],
  },
  {
    name: 'a volume that cannot be recycled or deleted has failed',
    act: async cluster => {
      await createVolume(cluster, 'r', '1Gi', { persistentVolumeReclaimPolicy: 'Recycle' })
      await createVolume(cluster, 'd', '1Gi', { persistentVolumeReclaimPolicy: 'Delete' })
      for (const volumeName of ['r', 'd']) await createClaim(cluster, volumeName, '1Gi', { volumeName })
      await cluster.advance(5_000)
      for (const name of ['r', 'd']) await deleteClaim(cluster, name)
    },
    end: ['volume d Failed d', 'volume r Failed r'],
  },
  {
    name: 'a class provisions a volume at once, which is deleted with the claim',
    of: 'local-path-provisioner',
    act: async cluster => {
      await createClass(cluster, 'local')
      await createClaim(cluster, 'a', '3Gi', local)
      await createClaim(cluster, 'b', '1Gi', local)
      await cluster.advance(5_000)
      await deleteClaim(cluster, 'b')
    },
    end: ['claim a Bound * 3Gi', 'volume * Bound a'],
  },
  {
    name: 'a class that retains keeps the volume',
    of: 'local-path-provisioner',
    act: async cluster => {
      await createClass(cluster, 'local', { reclaimPolicy: 'Retain' })
      await createClaim(cluster, 'a', '3Gi', local)
      await cluster.advance(5_000)
      await deleteClaim(cluster, 'a')
    },
    end: ['volume * Released a'],
  },
  {
    name: 'a claim without a class gets the default one, also when that is created later',
    act: async cluster => {
      await createClaim(cluster, 'a', '1Gi', { storageClassName: undefined })
      await cluster.advance(5_000)
      const metadata = {
        name: 'local',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      }
      await createClass(cluster, 'local', { metadata })
    },
    end: ['claim a Bound * 1Gi', 'volume * Bound a'],
  },
  {
    name: 'a class with delayed binding provisions nothing before a node is selected',
    of: 'local-path-provisioner',
    act: async cluster => {
      await createClass(cluster, 'local', { volumeBindingMode: 'WaitForFirstConsumer' })
      await createClaim(cluster, 'a', '1Gi', local)
      await createClaim(cluster, 'b', '1Gi', local)
      await cluster.advance(5_000)
      const annotations = { 'volume.kubernetes.io/selected-node': 'n1' }
      await cluster.run(
        cluster.client.patch(
          PersistentVolumeClaim,
          { namespace, name: 'a' },
          { metadata: { annotations } },
          { type: 'merge' },
        ),
      )
    },
    end: ['claim a Bound * 1Gi', 'claim b Pending - -', 'volume * Bound a'],
  },
  {
    name: 'a claim that lost its volume reports that',
    act: async cluster => {
      await createVolume(cluster, 'v', '1Gi')
      await createClaim(cluster, 'a', '1Gi')
      await cluster.advance(5_000)
      await cluster.run(cluster.client.delete(PersistentVolume, { name: 'v' }))
      const metadata = { finalizers: null }
      await cluster.run(
        cluster.client.patch(PersistentVolume, { name: 'v' }, { metadata }, { type: 'merge' }),
      )
    },
    end: ['claim a Lost v -'],
  },
  {
    name: 'a claim in use is kept until the pod is deleted, and so is its volume',
    of: 'persistentvolumeclaim-protection-controller, persistentvolume-protection-controller',
    act: async cluster => {
      await createVolume(cluster, 'v', '1Gi')
      await createClaim(cluster, 'a', '1Gi')
      await createPod(cluster, 'p', { persistentVolumeClaim: { claimName: 'a' } }, 'n1')
      await cluster.advance(5_000)
      await deleteClaim(cluster, 'a')
      await cluster.run(cluster.client.delete(PersistentVolume, { name: 'v' }))
      await cluster.advance(5_000)
      assert.deepEqual(await describeStorage(cluster), ['claim a Bound v 1Gi', 'volume v Bound a'])
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'p' }, { gracePeriodSeconds: 0 }))
    },
    end: [],
  },
  {
    name: 'a claim that is expanded expands its local-path volume',
    of: 'persistentvolume-expander-controller',
    act: async cluster => {
      await createClass(cluster, 'local', { allowVolumeExpansion: true })
      await createClaim(cluster, 'a', '1Gi', local)
      await cluster.advance(5_000)
      const spec = { resources: { requests: { storage: '5Gi' } } }
      await cluster.run(
        cluster.client.patch(PersistentVolumeClaim, { namespace, name: 'a' }, { spec }, { type: 'merge' }),
      )
    },
    end: ['claim a Bound * 5Gi', 'volume * Bound a'],
  },
  {
    name: 'an ephemeral volume is created and deleted with its pod',
    of: 'ephemeral-volume-controller',
    act: async cluster => {
      await createClass(cluster, 'local')
      const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...local }
      for (const name of ['p', 'q'])
        await createPod(cluster, name, { ephemeral: { volumeClaimTemplate: { spec: claim } } })
      await cluster.advance(3_000)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'q' }, { gracePeriodSeconds: 0 }))
      await cluster.advance(30_000)
    },
    end: ['claim p-data Bound * 1Gi', 'volume * Bound p-data'],
  },
]

describe('persistent volumes, with the controllers killed after any write', () => {
  for (const { name, of = 'persistentvolume-binder-controller', ...play } of plays)
    scenariosOf(of, { controllers, look: describeStorage })(name, play)
})

/** The events of a claim. */
const claimEvents: readonly [string, (cluster: Cluster) => Promise<unknown>, string][] = [
  [
    'there is no volume and no class',
    cluster => createClaim(cluster, 'a', '1Gi'),
    'FailedBinding: no persistent volumes available for this claim and no storage class is set',
  ],
  [
    'its class does not exist',
    cluster => createClaim(cluster, 'a', '1Gi', local),
    'ProvisioningFailed: storageclass.storage.k8s.io "local" not found',
  ],
  [
    'it waits for a pod',
    async cluster => {
      await createClass(cluster, 'local', { volumeBindingMode: 'WaitForFirstConsumer' })
      await createClaim(cluster, 'a', '1Gi', local)
    },
    'WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ],
  [
    'the volume it names is too small',
    async cluster => {
      await createVolume(cluster, 'v', '1Gi')
      await createClaim(cluster, 'a', '2Gi', { volumeName: 'v' })
    },
    'VolumeMismatch: Cannot bind to requested volume "v": requested PV is too small',
  ],
  [
    'an external provisioner has to create its volume',
    async cluster => {
      await createClass(cluster, 'local', { provisioner: 'example.com/disks' })
      await createClaim(cluster, 'a', '2Gi', local)
    },
    "ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'example.com/disks' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
  ],
]

describe('persistent volume claims', () => {
  for (const [what, act, message] of claimEvents) {
    it(`report that ${what}`, async () => {
      await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
      for (const controller of controllers()) cluster.start(controller)
      await cluster.advance(1_000)
      await act(cluster)
      await cluster.advance(3_000)
      const events = await eventsOf(cluster)
      assert.ok(events.includes(message), events.join('\n'))
      const claim = await cluster.run(cluster.client.get(PersistentVolumeClaim, { namespace, name: 'a' }))
      assert.equal(claim?.status?.phase, 'Pending')
    })
  }
})
