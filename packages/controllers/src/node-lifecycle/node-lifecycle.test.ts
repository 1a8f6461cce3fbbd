import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Lease } from '@coxswain/api/coordination/v1'
import { Node, Pod } from '@coxswain/api/core/v1'
import { formatTime } from '@coxswain/apimachinery/time'
import { createNodeLifecycleController, createTaintEvictionController } from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { defineOperator, type Operator } from '@coxswain/runtime'
import { type Cluster, startCluster } from '@coxswain/testing'
import { createObedientPods } from '@coxswain/testing/test-support/obedient-pods'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const leases = 'kube-node-lease'
/** A node that exists, and sends no heartbeats. */
const isSilent = 'example.com/silent'

/** Renews the lease of every node every ten seconds, unless it is silent. */
const heartbeats = (): Operator =>
  defineOperator('heartbeats', operator => {
    operator
      .controller('heartbeats')
      .for(Node)
      .timer(10_000)
      .reconcile(async ({ client, clock, key }) => {
        const node = await client.get(Node, key)
        if (!node || node.metadata.labels?.[isSilent]) return
        const name = { namespace: leases, name: key.name }
        const spec = { holderIdentity: key.name, renewTime: new Date(clock.now()).toISOString() }
        const renewTime = spec.renewTime.replace('Z', '000Z')
        if (await client.get(Lease, name)) {
          await client.patch(Lease, name, { spec: { renewTime } }, { type: 'merge' })
        } else await client.create(Lease, { metadata: name, spec: { ...spec, renewTime } })
      })
  })

async function createNode(
  cluster: Cluster,
  name: string,
  labels: Record<string, string> = {},
): Promise<void> {
  await cluster.run(cluster.client.create(Node, { metadata: { name, labels } }))
  await setCondition(cluster, name, 'Ready', 'True')
}

async function setCondition(
  cluster: Cluster,
  name: string,
  type: string,
  status: 'True' | 'False' | 'Unknown',
): Promise<void> {
  const time = formatTime(cluster.env.clock.now())
  const conditions = [{ type, status, lastHeartbeatTime: time, lastTransitionTime: time }]
  const options = { type: 'strategic', subresource: 'status' } as const
  await cluster.run(cluster.client.patch(Node, { name }, { status: { conditions } }, options))
}

const setSilent = (cluster: Cluster, name: string, value: 'yes' | null) =>
  cluster.run(
    cluster.client.patch(Node, { name }, { metadata: { labels: { [isSilent]: value } } }, { type: 'merge' }),
  )

const createPod = (cluster: Cluster, name: string, nodeName: string, spec: object = {}) =>
  cluster.run(
    cluster.client.create(Pod, {
      metadata: { namespace, name },
      spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...spec },
    }),
  )

/** Nodes as `name: Ready status, taints`, pods as `name Ready status`. */
async function look(cluster: Cluster): Promise<string[]> {
  const { items: nodes } = await cluster.run(cluster.client.list(Node))
  const { items: pods } = await cluster.run(cluster.client.list(Pod, { namespace }))
  const ready = (conditions: readonly { type: string; status: string }[] = []) =>
    conditions.find(({ type }) => type === 'Ready')?.status
  return [
    ...nodes.map(({ metadata, spec, status }) => {
      const taints = (spec?.taints ?? []).map(
        ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
      )
      return `${metadata.name}: ${[ready(status?.conditions), ...taints.sort()].join(' ')}`
    }),
    ...pods.map(({ metadata, status }) => `${metadata.name} ${ready(status?.conditions)}`),
  ].sort()
}

const scenario = scenariosOf('node-lifecycle-controller', {
  controllers: () => [createNodeLifecycleController(), createTaintEvictionController()],
  others: () => [heartbeats(), createObedientPods()],
  look,
})

describe('nodes, with faults injected into their controller', () => {
  scenario('that are ready lose their initial taint', {
    act: cluster => createNode(cluster, 'n1'),
    end: ['n1: True'],
  })

  scenario('that report NotReady are tainted, and update their pods themselves', {
    act: async cluster => {
      await createNode(cluster, 'n1')
      await createNode(cluster, 'n2')
      await createPod(cluster, 'p', 'n1')
      await cluster.advance(10_000)
      await setCondition(cluster, 'n1', 'Ready', 'False')
    },
    end: ['n1: False not-ready:NoExecute not-ready:NoSchedule', 'n2: True', 'p True'],
  })

  scenario('keep their pods if none is ready: the control plane may be partitioned', {
    act: async cluster => {
      for (const name of ['n1', 'n2']) await createNode(cluster, name)
      const tolerations = [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 100 }]
      await createPod(cluster, 'p', 'n1', { tolerations })
      await cluster.advance(10_000)
      await setCondition(cluster, 'n1', 'Ready', 'False')
      await cluster.advance(50_000)
      await setCondition(cluster, 'n2', 'Ready', 'False')
      await cluster.advance(300_000)
    },
    end: ['n1: False not-ready:NoSchedule', 'n2: False not-ready:NoSchedule', 'p True'],
  })

  it('have deprecated labels too, and keep conditions in place', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
    for (const operator of [createNodeLifecycleController(), heartbeats()]) cluster.start(operator)
    await createNode(cluster, 'other')
    await createNode(cluster, 'n1', { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'plan9' })
    await setCondition(cluster, 'n1', 'NetworkUnavailable', 'False')
    await cluster.advance(10_000)
    await setSilent(cluster, 'n1', 'yes')
    await cluster.advance(120_000)
    const node = (await cluster.run(cluster.client.get(Node, { name: 'n1' })))!
    assert.equal(node.metadata.labels?.['beta.kubernetes.io/os'], 'linux')
    assert.deepEqual(
      node.status?.conditions?.map(({ type, status, reason = '' }) => `${type} ${status} ${reason}`.trim()),
      [
        'NetworkUnavailable False',
        'Ready Unknown NodeStatusUnknown',
        'MemoryPressure Unknown NodeStatusNeverUpdated',
        'DiskPressure Unknown NodeStatusNeverUpdated',
        'PIDPressure Unknown NodeStatusNeverUpdated',
      ],
    )
  })

  scenario('without heartbeats are unreachable', {
    act: async cluster => {
      await createNode(cluster, 'n1')
      await createNode(cluster, 'n2')
      await cluster.advance(10_000)
      await setSilent(cluster, 'n1', 'yes')
      await cluster.advance(60_000)
    },
    end: ['n1: Unknown unreachable:NoExecute unreachable:NoSchedule', 'n2: True'],
  })

  scenario('that never sent a heartbeat are unreachable', {
    act: async cluster => {
      const metadata = { name: 'n1', labels: { [isSilent]: 'yes' } }
      await cluster.run(cluster.client.create(Node, { metadata }))
      await cluster.advance(60_000)
    },
    end: ['n1: Unknown unreachable:NoSchedule'],
  })

  scenario('that recover lose their taints, and keep those of others', {
    act: async cluster => {
      await createNode(cluster, 'n1')
      await cluster.advance(10_000)
      const { client } = cluster
      const node = (await cluster.run(client.get(Node, { name: 'n1' })))!
      const taints = [...(node.spec?.taints ?? []), { key: 'mine', effect: 'NoSchedule' as const }]
      await cluster.run(client.patch(Node, { name: 'n1' }, { spec: { taints } }, { type: 'merge' }))
      await setSilent(cluster, 'n1', 'yes')
      await cluster.advance(120_000)
      await setSilent(cluster, 'n1', null)
      await setCondition(cluster, 'n1', 'Ready', 'True')
    },
    end: ['n1: True mine:NoSchedule'],
  })

  scenario('with resource pressure reject new pods', {
    act: async cluster => {
      await createNode(cluster, 'n1')
      for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'])
        await setCondition(cluster, 'n1', type, 'True')
      await cluster.advance(10_000)
      await setCondition(cluster, 'n1', 'PIDPressure', 'False')
    },
    end: ['n1: True disk-pressure:NoSchedule memory-pressure:NoSchedule network-unavailable:NoSchedule'],
  })

  scenario('have a taint while they are cordoned', {
    act: async cluster => {
      for (const name of ['n1', 'n2']) await createNode(cluster, name)
      const cordon = (name: string, unschedulable: boolean) =>
        cluster.run(cluster.client.patch(Node, { name }, { spec: { unschedulable } }, { type: 'merge' }))
      for (const name of ['n1', 'n2']) await cordon(name, true)
      await cluster.advance(10_000)
      await cordon('n2', false)
    },
    end: ['n1: True unschedulable:NoSchedule', 'n2: True'],
  })

  scenario('that stay unreachable lose their pods after the toleration ends', {
    act: async cluster => {
      for (const name of ['n1', 'n2']) await createNode(cluster, name)
      const tolerations = [{ operator: 'Exists', effect: 'NoExecute' }]
      await createPod(cluster, 'usual', 'n1')
      await createPod(cluster, 'patient', 'n1', { tolerations })
      await cluster.advance(10_000)
      await setSilent(cluster, 'n1', 'yes')
      await cluster.advance(400_000)
    },
    end: ['n1: Unknown unreachable:NoExecute unreachable:NoSchedule', 'n2: True', 'patient False'],
  })

  scenario('that recover in time keep their pods', {
    act: async cluster => {
      for (const name of ['n1', 'n2']) await createNode(cluster, name)
      await createPod(cluster, 'p', 'n1')
      await cluster.advance(10_000)
      await setCondition(cluster, 'n1', 'Ready', 'False')
      await cluster.advance(200_000)
      await setCondition(cluster, 'n1', 'Ready', 'True')
      await cluster.advance(300_000)
    },
    end: ['n1: True', 'n2: True', 'p True'],
  })

  scenario('of one zone are evicted one after the other', {
    act: async cluster => {
      const labels = { 'topology.kubernetes.io/zone': 'a' }
      for (const name of ['n1', 'n2', 'n3']) await createNode(cluster, name, labels)
      await cluster.advance(10_000)
      for (const name of ['n1', 'n2']) await setCondition(cluster, name, 'Ready', 'False')
    },
    end: [...['n1', 'n2'].map(name => `${name}: False not-ready:NoExecute not-ready:NoSchedule`), 'n3: True'],
  })
})
