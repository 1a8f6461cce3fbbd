import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, Pod } from '@coxswain/api/core/v1'
import { type DeviceToleration, ResourceClaim, ResourceSlice } from '@coxswain/api/resource/v1'
import { createDeviceTaintEvictionController } from '@coxswain/controllers'
import { playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const operators = () => [createDeviceTaintEvictionController()]
const namespace = 'default'
const key = { namespace, name: 'p' }
const slice = { name: 's' }
const taint = { key: 'broken', effect: 'NoExecute' as const }
type Toleration = Partial<DeviceToleration>

/** A pod on a node with a device of its own, which tolerates that much. */
async function start(stage: WorkloadStage, ...tolerations: Toleration[]): Promise<void> {
  const { client } = stage
  await stage.run(
    client.create(ResourceSlice, {
      metadata: slice,
      spec: {
        driver: 'd.example.com',
        nodeName: 'n1',
        pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'x' }, { name: 'y' }],
      },
    }),
  )
  const pod = await stage.run(
    client.create(Pod, {
      metadata: key,
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'gpu' }] } }],
        resourceClaims: [{ name: 'gpu', resourceClaimName: 'c' }],
      },
    }),
  )
  const claim = await stage.run(
    client.create(ResourceClaim, {
      metadata: { namespace, name: 'c' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', tolerations } }] } },
    }),
  )
  const device = { request: 'r', driver: 'd.example.com', pool: 'pool', device: 'x', tolerations }
  const status = {
    allocation: { devices: { results: [device] } },
    reservedFor: [{ resource: 'pods', name: 'p', uid: pod.metadata.uid }],
  }
  await stage.run(client.updateStatus(ResourceClaim, { ...claim, status }))
  await stage.later(2_000)
}

async function setTaints(stage: WorkloadStage, device: 'x' | 'y', taints: readonly object[]): Promise<void> {
  const devices = ['x', 'y'].map(name => ({ name, ...(name === device && { taints }) }))
  await stage.run(stage.client.patch(ResourceSlice, slice, { spec: { devices } }, { type: 'merge' }))
}

const isThere = async (stage: WorkloadStage) =>
  (await stage.run(stage.client.get(Pod, key)))?.metadata.deletionTimestamp === undefined &&
  (await stage.run(stage.client.get(Pod, key))) !== undefined

async function told(stage: WorkloadStage) {
  const { items } = await stage.run(stage.client.list(Event, { namespace }))
  const ours = items.filter(({ reason }) => reason === 'DeviceTaintManagerEviction')
  return [...new Set(ours.map(({ message, source }) => `${source?.component}: ${message}`))]
}

describe('pods with devices', () => {
  it('have to go when one of theirs gets a taint that they do not tolerate', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await start(stage)
          await setTaints(stage, 'y', [taint])
          await stage.later(5_000)
          assert.ok(await isThere(stage), 'it is not its device')
          await setTaints(stage, 'x', [{ ...taint, effect: 'NoSchedule' }])
          await stage.later(5_000)
          assert.ok(await isThere(stage), 'that is only for those that come')
          await setTaints(stage, 'x', [taint])
        },
        end: async stage => [
          await isThere(stage),
          (await told(stage)).includes('device-taint-eviction-controller: Marking for deletion'),
        ],
      },
      [false, true],
    ))

  it('may stay as long as they tolerate it', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await start(stage, { ...taint, operator: 'Exists', tolerationSeconds: 100 })
          await setTaints(stage, 'x', [taint])
          await stage.later(90_000)
          assert.ok(await isThere(stage))
        },
        end: isThere,
      },
      false,
    ))

  it('stay when they tolerate it for ever, or it is taken away in time', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await start(
            stage,
            { key: 'noisy', effect: 'NoExecute', operator: 'Exists' },
            { ...taint, operator: 'Exists', tolerationSeconds: 100 },
          )
          await setTaints(stage, 'x', [{ ...taint, key: 'noisy' }, taint])
          await stage.later(60_000)
          await setTaints(stage, 'x', [{ ...taint, key: 'noisy' }])
          await stage.later(120_000)
        },
        end: isThere,
      },
      true,
    ))
})
