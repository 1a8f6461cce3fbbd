import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { CSIDriver, CSIStorageCapacity, StorageClass } from '@coxswain/api/storage/v1'
import { VirtualWorld } from '@coxswain/kit'
import { createScheduler } from '@coxswain/scheduler'
import { type Cluster, startCluster } from '@coxswain/testing'
import { addNode } from '@coxswain/testing/test-support/add-node'

const namespace = 'default'
const provisioner = 'disk.example.com'

/** Two nodes, a class with delayed binding, and a pod with a claim of 10Gi. */
async function play(storageCapacity: boolean, body: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 4 }) })
  const { client, run } = cluster
  cluster.start(createScheduler())
  for (const name of ['n1', 'n2']) await addNode(cluster, name)
  await run(client.create(CSIDriver, { metadata: { name: provisioner }, spec: { storageCapacity } }))
  await run(
    client.create(StorageClass, {
      metadata: { name: 'disk' },
      provisioner,
      volumeBindingMode: 'WaitForFirstConsumer',
    }),
  )
  await run(
    client.create(PersistentVolumeClaim, {
      metadata: { name: 'data', namespace },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'disk',
        resources: { requests: { storage: '10Gi' } },
      },
    }),
  )
  await body(cluster)
}

async function addPod(cluster: Cluster): Promise<void> {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
  await cluster.run(
    cluster.client.create(Pod, {
      metadata: { name: 'p', namespace },
      spec: { containers: [{ name: 'c', image: 'i' }], volumes },
    }),
  )
  await cluster.advance(2_000)
}

const setCapacity = (cluster: Cluster, node: string, capacity: string, maximumVolumeSize?: string) =>
  cluster.run(
    cluster.client.create(CSIStorageCapacity, {
      metadata: { name: `on-${node}`, namespace },
      storageClassName: 'disk',
      nodeTopology: { matchLabels: { 'kubernetes.io/hostname': node } },
      capacity,
      ...(maximumVolumeSize !== undefined && { maximumVolumeSize }),
    }),
  )

/** The node that the volume is provisioned for: the pod is bound when it exists. */
const chosenNode = async ({ client, run }: Cluster) =>
  (await run(client.get(PersistentVolumeClaim, { namespace, name: 'data' })))?.metadata.annotations?.[
    'volume.kubernetes.io/selected-node'
  ]

describe('storage capacity', () => {
  it('decides between nodes', () =>
    play(true, async cluster => {
      await setCapacity(cluster, 'n1', '5Gi')
      await setCapacity(cluster, 'n2', '20Gi')
      await addPod(cluster)
      assert.equal(await chosenNode(cluster), 'n2')
    }))

  it('is awaited if there is too little', () =>
    play(true, async cluster => {
      await setCapacity(cluster, 'n1', '100Gi', '8Gi') // no volume may be that large
      await addPod(cluster)
      assert.equal(await chosenNode(cluster), undefined)
      const { client, run } = cluster
      const pod = await run(client.get(Pod, { namespace, name: 'p' }))
      assert.match(
        pod?.status?.conditions?.[0]?.message ?? '',
        /^0\/2 nodes are available: 2 node\(s\) did not have enough free storage\./,
      )
      const key = { namespace, name: 'on-n1' }
      await run(client.patch(CSIStorageCapacity, key, { maximumVolumeSize: '10Gi' }, { type: 'merge' }))
      await cluster.advance(5_000)
      assert.equal(await chosenNode(cluster), 'n1')
    }))

  it('is ignored for drivers that do not publish it', () =>
    play(false, async cluster => {
      await addPod(cluster)
      assert.notEqual(await chosenNode(cluster), undefined)
    }))
})
