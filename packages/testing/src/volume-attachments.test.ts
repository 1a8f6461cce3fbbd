import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import { CSIDriver, VolumeAttachment } from '@coxswain/api/storage/v1'
import { createAttachDetachController } from '@coxswain/controllers'
import { defineOperator, type Operator } from '@coxswain/runtime'
import { playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const operators = () => [createAttachDetachController()]
const uniqueName = 'kubernetes.io/csi/disks.example.com^handle'

/** What a driver does: attaches what is asked for, and lets go of what is deleted. */
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

async function addNode(stage: WorkloadStage, name: string): Promise<void> {
  await stage.addNode(name)
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' }
  await stage.run(stage.client.patch(Node, { name }, { metadata: { annotations } }, { type: 'merge' }))
}

async function setStatus(stage: WorkloadStage, name: string, status: object): Promise<void> {
  const options = { type: 'strategic', subresource: 'status' } as const
  await stage.run(stage.client.patch(Node, { name }, { status }, options))
}

/** A bound claim, as the binder leaves it. */
async function addVolume(stage: WorkloadStage, mode: 'ReadWriteOnce' | 'ReadWriteMany' = 'ReadWriteOnce') {
  const { client } = stage
  const capacity = { storage: '1Gi' }
  const claim = await stage.run(
    client.create(PersistentVolumeClaim, {
      metadata: { namespace: 'default', name: 'c' },
      spec: { accessModes: [mode], resources: { requests: capacity }, volumeName: 'v', storageClassName: '' },
    }),
  )
  await stage.run(
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
  await stage.run(client.updateStatus(PersistentVolumeClaim, { ...claim, status: { phase: 'Bound' } }))
}

const addPod = (stage: WorkloadStage, name: string, nodeName: string) =>
  stage.run(
    stage.client.create(Pod, {
      metadata: { namespace: 'default', name },
      spec: {
        nodeName,
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
      },
    }),
  )

/** A pod on a node, with a volume. */
async function setUp(stage: WorkloadStage, operator: Operator = driver()): Promise<void> {
  stage.cluster.start(operator)
  await addNode(stage, 'n1')
  await addVolume(stage)
  await addPod(stage, 'p', 'n1')
}

const remove = (stage: WorkloadStage, name: string) =>
  stage.run(stage.client.delete(Pod, { namespace: 'default', name }, { gracePeriodSeconds: 0 }))

async function attachments(stage: WorkloadStage) {
  const { items } = await stage.run(stage.client.list(VolumeAttachment))
  return items.map(({ spec, status }) => [spec?.nodeName, status?.attached]).sort()
}

async function reported(stage: WorkloadStage, name: string) {
  return (await stage.run(stage.client.get(Node, { name })))?.status?.volumesAttached
}

async function messages(stage: WorkloadStage, reason: string) {
  const { items } = await stage.run(stage.client.list(Event, { namespace: 'default' }))
  return [...new Set(items.filter(event => event.reason === reason).map(({ message }) => message))]
}

describe('volumes of drivers', () => {
  it('are attached to the nodes of their pods, and the nodes say so', () =>
    playWorkload(
      {
        operators,
        act: stage => setUp(stage),
        end: async stage => {
          const [attachment] = (await stage.run(stage.client.list(VolumeAttachment))).items
          assert.match(attachment?.metadata.name ?? '', /^csi-[0-9a-f]{64}$/)
          assert.equal(attachment?.spec?.attacher, 'disks.example.com')
          return [await attachments(stage), await reported(stage, 'n1')]
        },
      },
      [[['n1', true]], [{ name: uniqueName, devicePath: '' }]],
    ))

  it('are detached when the last pod has gone and the node has let go of them', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await setUp(stage)
          await stage.later(5_000)
          await setStatus(stage, 'n1', { volumesInUse: [uniqueName] })
          await remove(stage, 'p')
          await stage.later(600_000)
          assert.deepEqual(await attachments(stage), [['n1', true]], 'a node that is well is waited for')
          await setStatus(stage, 'n1', { volumesInUse: [] })
        },
        end: async stage => [await attachments(stage), (await reported(stage, 'n1')) ?? []],
      },
      [[], []],
    ))

  it('are taken from a node that does not answer after six minutes, from one out of service at once', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          stage.cluster.start(driver())
          for (const name of ['n1', 'n2']) await addNode(stage, name)
          await addVolume(stage, 'ReadWriteMany')
          await addPod(stage, 'p1', 'n1')
          await addPod(stage, 'p2', 'n2')
          await stage.later(5_000)
          for (const name of ['n1', 'n2']) {
            const conditions = [{ type: 'Ready', status: 'Unknown' }]
            await setStatus(stage, name, { volumesInUse: [uniqueName], conditions })
          }
          await stage.setTaints('n2', [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }])
          for (const name of ['p1', 'p2']) await remove(stage, name)
          await stage.later(60_000)
          assert.deepEqual(await attachments(stage), [['n1', true]])
          await stage.later(760_000)
        },
        end: attachments,
      },
      [],
    ))

  it('that only one node may have wait until another has lost them, and their pods are told', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          stage.cluster.start(driver())
          for (const name of ['n1', 'n2']) await addNode(stage, name)
          await addVolume(stage)
          await addPod(stage, 'p1', 'n1')
          await stage.later(5_000)
          await addPod(stage, 'p2', 'n2')
          await stage.later(5_000)
          assert.deepEqual(await attachments(stage), [['n1', true]])
          await remove(stage, 'p1')
        },
        end: async stage => {
          const told = await messages(stage, 'FailedAttachVolume')
          const expected = 'Waiting for detach for volume "v" Volume is already used by pod(s) p1'
          return [await attachments(stage), told.includes(expected)]
        },
      },
      [[['n2', true]], true],
    ))

  it('are not attached where their driver needs none, or a node does it itself', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          stage.cluster.start(driver())
          await stage.addNode('own')
          await addVolume(stage)
          await addPod(stage, 'p', 'own')
          await stage.later(5_000)
          assert.deepEqual(await attachments(stage), [])
          await stage.run(
            stage.client.create(CSIDriver, {
              metadata: { name: 'disks.example.com' },
              spec: { attachRequired: false },
            }),
          )
          await addNode(stage, 'n1')
          await addPod(stage, 'p1', 'n1')
        },
        end: attachments,
      },
      [],
    ))

  it('that cannot be attached are told of', () =>
    playWorkload(
      {
        operators,
        act: stage => setUp(stage, driver(true)),
        end: stage => messages(stage, 'FailedAttachVolume'),
      },
      ['AttachVolume.Attach failed for volume "v" : no slot is free'],
    ))
})
