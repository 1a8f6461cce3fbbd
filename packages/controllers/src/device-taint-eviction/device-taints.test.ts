import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { Event, Pod } from '@coxswain/api/core/v1'
import { type DeviceToleration, ResourceClaim, ResourceSlice } from '@coxswain/api/resource/v1'
import { createDeviceTaintEvictionController } from '@coxswain/controllers'
import type { Cluster } from '@coxswain/testing'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const controllers = () => [createDeviceTaintEvictionController()]
const namespace = 'default'
const key = { namespace, name: 'p' }
const slice = { name: 's' }
const taint = { key: 'broken', effect: 'NoExecute' as const }
type Toleration = Partial<DeviceToleration>

/** A pod on a node with a device, with these tolerations. */
async function start(cluster: Cluster, ...tolerations: Toleration[]): Promise<void> {
  const { client } = cluster
  await cluster.run(
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
  const pod = await cluster.run(
    client.create(Pod, {
      metadata: key,
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'gpu' }] } }],
        resourceClaims: [{ name: 'gpu', resourceClaimName: 'c' }],
      },
    }),
  )
  const claim = await cluster.run(
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
  await cluster.run(client.updateStatus(ResourceClaim, { ...claim, status }))
  await cluster.advance(2_000)
}

async function setTaints(cluster: Cluster, device: 'x' | 'y', taints: readonly object[]): Promise<void> {
  const devices = ['x', 'y'].map(name => ({ name, ...(name === device && { taints }) }))
  await cluster.run(cluster.client.patch(ResourceSlice, slice, { spec: { devices } }, { type: 'merge' }))
}

const isThere = async (cluster: Cluster) =>
  (await cluster.run(cluster.client.get(Pod, key)))?.metadata.deletionTimestamp === undefined &&
  (await cluster.run(cluster.client.get(Pod, key))) !== undefined

async function eventMessages(cluster: Cluster) {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
  const ours = items.filter(({ reason }) => reason === 'DeviceTaintManagerEviction')
  return [...new Set(ours.map(({ message, source }) => `${source?.component}: ${message}`))]
}

describe('pods with devices', () => {
  const scenario = scenariosOf('device-taint-eviction-controller', {
    controllers,
    others: () => [createObedientPods()],
  })

  scenario('are evicted when a device gets a taint that they do not tolerate', {
    act: async cluster => {
      await start(cluster)
      await setTaints(cluster, 'y', [taint])
      await cluster.advance(5_000)
      assert.ok(await isThere(cluster), 'it is not its device')
      await setTaints(cluster, 'x', [{ ...taint, effect: 'NoSchedule' }])
      await cluster.advance(5_000)
      assert.ok(await isThere(cluster), 'NoSchedule only affects new pods')
      await setTaints(cluster, 'x', [taint])
    },
    look: async cluster => [
      await isThere(cluster),
      (await eventMessages(cluster)).includes('device-taint-eviction-controller: Marking for deletion'),
    ],
    end: [false, true],
  })

  scenario('stay as long as they tolerate it', {
    act: async cluster => {
      await start(cluster, { ...taint, operator: 'Exists', tolerationSeconds: 100 })
      await setTaints(cluster, 'x', [taint])
      await cluster.advance(90_000)
      assert.ok(await isThere(cluster))
    },
    look: isThere,
    end: false,
  })

  scenario('stay if they tolerate it forever, or it is removed in time', {
    act: async cluster => {
      await start(
        cluster,
        { key: 'noisy', effect: 'NoExecute', operator: 'Exists' },
        { ...taint, operator: 'Exists', tolerationSeconds: 100 },
      )
      await setTaints(cluster, 'x', [{ ...taint, key: 'noisy' }, taint])
      await cluster.advance(60_000)
      await setTaints(cluster, 'x', [{ ...taint, key: 'noisy' }])
      await cluster.advance(120_000)
    },
    look: isThere,
    end: true,
  })
})
