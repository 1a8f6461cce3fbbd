import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { Event, Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { CSIDriver, VolumeAttachment } from '@coxswain/api/storage/v1'
import { createAttachDetachController } from '@coxswain/controllers'
import { defineOperator, type Operator } from '@coxswain/runtime'
import type { Cluster } from '@coxswain/testing'
import { addNode, setTaints } from '@coxswain/testing/test-support/add-node'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const controllers = () => [createAttachDetachController()]
const uniqueName = 'kubernetes.io/csi/disks.example.com^handle'

/** Acts as a CSI driver: attaches requested volumes, and detaches deleted ones. */
const driver = (refuses = false) =>
  defineOperator('driver', operator => {
    operator
      .controller('driver')
      .for(VolumeAttachment)
      .finalizer('example.com/attached', async () => {})
      .reconcile(async ({ client, key }) => {
        const found = await client.get(VolumeAttachment, key)
        if (!found || found.status?.attached || found.status?.attachError) return
        const status = refuses
          ? { attached: false, attachError: { message: 'no slot is free' } }
          : { attached: true }
        await client.updateStatus(VolumeAttachment, { ...found, status })
      })
  })

/** A node with controller-managed attach and detach. */
async function addManaged(cluster: Cluster, name: string): Promise<void> {
  await addNode(cluster, name)
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' }
  await cluster.run(cluster.client.patch(Node, { name }, { metadata: { annotations } }, { type: 'merge' }))
}

async function setStatus(cluster: Cluster, name: string, status: object): Promise<void> {
  const options = { type: 'strategic', subresource: 'status' } as const
  await cluster.run(cluster.client.patch(Node, { name }, { status }, options))
}

/** A bound claim, as the binder leaves it. */
async function addVolume(cluster: Cluster, mode: 'ReadWriteOnce' | 'ReadWriteMany' = 'ReadWriteOnce') {
  const { client } = cluster
  const capacity = { storage: '1Gi' }
  const claim = await cluster.run(
    client.create(PersistentVolumeClaim, {
      metadata: { namespace: 'default', name: 'c' },
      spec: { accessModes: [mode], resources: { requests: capacity }, volumeName: 'v', storageClassName: '' },
    }),
  )
  await cluster.run(
    client.create(PersistentVolume, {
      metadata: { name: 'v' },
      spec: {
        capacity,
        accessModes: [mode],
        csi: { driver: 'disks.example.com', volumeHandle: 'handle' },
        claimRef: { namespace: 'default', name: 'c', uid: claim.metadata.uid },
      },
    }),
  )
  await cluster.run(client.updateStatus(PersistentVolumeClaim, { ...claim, status: { phase: 'Bound' } }))
}

const addPod = (cluster: Cluster, name: string, nodeName: string) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { namespace: 'default', name },
      spec: {
        nodeName,
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
      },
    }),
  )

/** A pod on a node, with a volume. */
async function setUp(cluster: Cluster, operator: Operator = driver()): Promise<void> {
  cluster.start(operator)
  await addManaged(cluster, 'n1')
  await addVolume(cluster)
  await addPod(cluster, 'p', 'n1')
}

const remove = (cluster: Cluster, name: string) =>
  cluster.run(cluster.client.delete(Pod, { namespace: 'default', name }, { gracePeriodSeconds: 0 }))

async function attachments(cluster: Cluster) {
  const { items } = await cluster.run(cluster.client.list(VolumeAttachment))
  return items.map(({ spec, status }) => [spec?.nodeName, status?.attached]).sort()
}

async function reported(cluster: Cluster, name: string) {
  return (await cluster.run(cluster.client.get(Node, { name })))?.status?.volumesAttached
}

async function messages(cluster: Cluster, reason: string) {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
  return [...new Set(items.filter(event => event.reason === reason).map(({ message }) => message))]
}

describe('CSI volumes', () => {
  const scenario = scenariosOf('persistentvolume-attach-detach-controller', {
    controllers,
    others: () => [createObedientPods()],
  })

  scenario('are attached to the nodes of their pods and reported in node status', {
    act: cluster => setUp(cluster),
    look: async cluster => {
      const [attachment] = (await cluster.run(cluster.client.list(VolumeAttachment))).items
      assert.match(attachment?.metadata.name ?? '', /^csi-[0-9a-f]{64}$/)
      assert.equal(attachment?.spec?.attacher, 'disks.example.com')
      return [await attachments(cluster), await reported(cluster, 'n1')]
    },
    end: [[['n1', true]], [{ name: uniqueName, devicePath: '' }]],
  })

  scenario('are detached when the last pod is deleted and the node has unmounted them', {
    act: async cluster => {
      await setUp(cluster)
      await cluster.advance(5_000)
      await setStatus(cluster, 'n1', { volumesInUse: [uniqueName] })
      await remove(cluster, 'p')
      await cluster.advance(600_000)
      assert.deepEqual(await attachments(cluster), [['n1', true]], 'a healthy node is waited for')
      await setStatus(cluster, 'n1', { volumesInUse: [] })
    },
    look: async cluster => [await attachments(cluster), (await reported(cluster, 'n1')) ?? []],
    end: [[], []],
  })

  scenario('are detached from an unreachable node after six minutes, from one out of service at once', {
    act: async cluster => {
      cluster.start(driver())
      for (const name of ['n1', 'n2']) await addManaged(cluster, name)
      await addVolume(cluster, 'ReadWriteMany')
      await addPod(cluster, 'p1', 'n1')
      await addPod(cluster, 'p2', 'n2')
      await cluster.advance(5_000)
      for (const name of ['n1', 'n2']) {
        const conditions = [{ type: 'Ready', status: 'Unknown' }]
        await setStatus(cluster, name, { volumesInUse: [uniqueName], conditions })
      }
      await setTaints(cluster, 'n2', [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }])
      for (const name of ['p1', 'p2']) await remove(cluster, name)
      await cluster.advance(60_000)
      assert.deepEqual(await attachments(cluster), [['n1', true]])
      await cluster.advance(760_000)
    },
    look: attachments,
    end: [],
  })

  scenario('that cannot be shared wait until they are detached from another node, with an event', {
    act: async cluster => {
      cluster.start(driver())
      for (const name of ['n1', 'n2']) await addManaged(cluster, name)
      await addVolume(cluster)
      await addPod(cluster, 'p1', 'n1')
      await cluster.advance(5_000)
      await addPod(cluster, 'p2', 'n2')
      await cluster.advance(5_000)
      assert.deepEqual(await attachments(cluster), [['n1', true]])
      await remove(cluster, 'p1')
    },
    look: async cluster => {
      const recorded = await messages(cluster, 'FailedAttachVolume')
      const expected = 'Waiting for detach for volume "v" Volume is already used by pod(s) p1'
      return [await attachments(cluster), recorded.includes(expected)]
    },
    end: [[['n2', true]], true],
  })

  scenario('are not attached if their driver does not require it, or the node does it itself', {
    act: async cluster => {
      cluster.start(driver())
      await addNode(cluster, 'own')
      await addVolume(cluster)
      await addPod(cluster, 'p', 'own')
      await cluster.advance(5_000)
      assert.deepEqual(await attachments(cluster), [])
      await cluster.run(
        cluster.client.create(CSIDriver, {
          metadata: { name: 'disks.example.com' },
          spec: { attachRequired: false },
        }),
      )
      await addManaged(cluster, 'n1')
      await addPod(cluster, 'p1', 'n1')
    },
    look: attachments,
    end: [],
  })

  scenario('that cannot be attached are reported', {
    act: cluster => setUp(cluster, driver(true)),
    look: cluster => messages(cluster, 'FailedAttachVolume'),
    end: ['AttachVolume.Attach failed for volume "v" : no slot is free'],
  })
})
