import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, Node, Pod } from '@coxswain/api/core/v1'
import { PriorityClass } from '@coxswain/api/scheduling/v1'
import { VirtualWorld } from '@coxswain/kit'
import {
  createScheduler,
  type SchedulerOptions,
  type SchedulerPlugin,
  unschedulable,
} from '@coxswain/scheduler'
import { type Cluster, startCluster } from '@coxswain/testing'

type NodeExtras = { labels?: Record<string, string>; cpu?: string; taint?: string; unschedulable?: boolean }

async function addNode(cluster: Cluster, name: string, extras: NodeExtras = {}): Promise<void> {
  const { client } = cluster
  const { labels = {}, cpu = '4', taint, unschedulable: cordoned } = extras
  await cluster.run(
    client.create(Node, {
      metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      spec: {
        ...(cordoned && { unschedulable: true }),
        ...(taint !== undefined && { taints: [{ key: taint, effect: 'NoSchedule' as const }] }),
      },
    }),
  )
  const node = await cluster.run(client.get(Node, { name }))
  const allocatable = { cpu, memory: '8Gi', pods: '10' }
  const ready = { type: 'Ready', status: 'True' as const }
  await cluster.run(
    client.updateStatus(Node, {
      ...node!,
      status: { capacity: allocatable, allocatable, conditions: [ready] },
    }),
  )
  // As the node lifecycle controller does.
  const taints = taint === undefined ? [] : [{ key: taint, effect: 'NoSchedule' as const }]
  await cluster.run(client.patch(Node, { name }, { spec: { taints } }, { type: 'merge' }))
}

type PodExtras = { cpu?: string; spec?: object; labels?: Record<string, string>; priorityClassName?: string }

async function addPod(cluster: Cluster, name: string, extras: PodExtras = {}): Promise<void> {
  const { cpu = '1', spec = {}, labels = {}, priorityClassName } = extras
  await cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace: 'default', labels },
      spec: {
        containers: [{ name: 'main', image: 'x', resources: { requests: { cpu } } }],
        ...(priorityClassName !== undefined && { priorityClassName }),
        ...spec,
      },
    }),
  )
}

const pod = async (cluster: Cluster, name: string) =>
  await cluster.run(cluster.client.get(Pod, { namespace: 'default', name }))

async function withScheduler(
  options: SchedulerOptions,
  body: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 5 }) })
  cluster.start(createScheduler(options))
  await cluster.advance(1_000)
  await body(cluster)
}

describe('the scheduler in a cluster', () => {
  it('accepts images without names, as kubelets report them, and sizes beyond 2^53', async () => {
    await withScheduler({}, async cluster => {
      await addNode(cluster, 'a')
      await addNode(cluster, 'b')
      const images = [
        { names: null, sizeBytes: 5 },
        { names: ['x:latest'], sizeBytes: 9007199254740993n },
      ]
      const { client } = cluster
      await cluster.run(
        client.patch(Node, { name: 'a' }, { status: { images } }, { type: 'merge', subresource: 'status' }),
      )
      assert.deepEqual((await cluster.run(client.get(Node, { name: 'a' })))?.status?.images?.[0], {
        sizeBytes: 5,
      })
      await addPod(cluster, 'p')
      await cluster.advance(5_000)
      assert.ok((await pod(cluster, 'p'))?.spec.nodeName)
    })
  })

  it('binds a pod to the node with enough resources, with an event', async () => {
    await withScheduler({}, async cluster => {
      await addNode(cluster, 'small', { cpu: '1' })
      await addNode(cluster, 'large', { cpu: '8' })
      await addPod(cluster, 'a', { cpu: '2' })
      await cluster.advance(2_000)
      assert.equal((await pod(cluster, 'a'))?.spec.nodeName, 'large')
      const { items } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
      assert.ok(items.some(({ message }) => message === 'Successfully assigned default/a to large'))
    })
  })

  it('reports in upstream’s words why no node fits, and retries when one is added', async () => {
    await withScheduler({}, async cluster => {
      await addNode(cluster, 'cordoned', { unschedulable: true })
      await addNode(cluster, 'tainted', { taint: 'gpu' })
      await addNode(cluster, 'small', { cpu: '1' })
      await addPod(cluster, 'a', { cpu: '2' })
      await cluster.advance(2_000)
      const condition = (await pod(cluster, 'a'))?.status?.conditions?.find(
        ({ type }) => type === 'PodScheduled',
      )
      assert.equal(condition?.reason, 'Unschedulable')
      assert.equal(
        condition?.message,
        '0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
      )
      await addNode(cluster, 'late', { cpu: '8' })
      await cluster.advance(15_000)
      assert.equal((await pod(cluster, 'a'))?.spec.nodeName, 'late')
    })
  })

  it('preempts a pod of lower priority', async () => {
    await withScheduler({}, async cluster => {
      await cluster.run(cluster.client.create(PriorityClass, { metadata: { name: 'high' }, value: 1_000 }))
      await addNode(cluster, 'only', { cpu: '2' })
      await addPod(cluster, 'low', { cpu: '2' })
      await cluster.advance(2_000)
      await addPod(cluster, 'urgent', { cpu: '2', priorityClassName: 'high' })
      await cluster.advance(2_000)
      const victim = await pod(cluster, 'low')
      assert.ok(victim?.metadata.deletionTimestamp)
      assert.ok(victim.status?.conditions?.some(({ type }) => type === 'DisruptionTarget'))
      assert.equal((await pod(cluster, 'urgent'))?.status?.nominatedNodeName, 'only')
      await cluster.run(
        cluster.client.delete(Pod, { namespace: 'default', name: 'low' }, { gracePeriodSeconds: 0 }),
      )
      await cluster.advance(15_000)
      assert.equal((await pod(cluster, 'urgent'))?.spec.nodeName, 'only')
    })
  })

  it('holds pods with scheduling gates until the last is removed', async () => {
    await withScheduler({}, async cluster => {
      await addNode(cluster, 'only')
      await addPod(cluster, 'a', { spec: { schedulingGates: [{ name: 'example.com/wait' }] } })
      await cluster.advance(2_000)
      assert.equal((await pod(cluster, 'a'))?.spec.nodeName, undefined)
      const lift = [{ op: 'remove', path: '/spec/schedulingGates' }]
      await cluster.run(
        cluster.client.patch(Pod, { namespace: 'default', name: 'a' }, lift, { type: 'json' }),
      )
      await cluster.advance(2_000)
      assert.equal((await pod(cluster, 'a'))?.spec.nodeName, 'only')
    })
  })

  it('spreads pods over zones and respects anti-affinity', async () => {
    await withScheduler({}, async cluster => {
      for (const name of ['a', 'b', 'c'])
        await addNode(cluster, name, { labels: { 'topology.kubernetes.io/zone': `zone-${name}` } })
      const labels = { app: 'web' }
      const spec = {
        topologySpreadConstraints: [
          {
            topologyKey: 'topology.kubernetes.io/zone',
            maxSkew: 1,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: labels },
          },
        ],
      }
      for (const name of ['p1', 'p2', 'p3']) await addPod(cluster, name, { labels, spec })
      await cluster.advance(3_000)
      const { items } = await cluster.run(cluster.client.list(Pod, { namespace: 'default' }))
      assert.deepEqual(items.map(item => item.spec.nodeName).sort(), ['a', 'b', 'c'])
      const apart = {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
            ],
          },
        },
      }
      await addPod(cluster, 'loner', { spec: apart })
      await cluster.advance(2_000)
      const status = (await pod(cluster, 'loner'))?.status
      assert.match(status?.conditions?.[0]?.message ?? '', /3 node\(s\) didn't match pod anti-affinity rules/)
    })
  })

  it('runs custom plug-ins', async () => {
    const quiet: SchedulerPlugin = {
      name: 'Quiet',
      filter: (_, { labels }) =>
        labels.noisy === undefined ? undefined : unschedulable('node(s) were noisy'),
    }
    await withScheduler({ plugins: [quiet] }, async cluster => {
      await addNode(cluster, 'loud', { labels: { noisy: '' } })
      await addNode(cluster, 'calm')
      for (const name of ['a', 'b', 'c']) await addPod(cluster, name)
      await cluster.advance(2_000)
      const { items } = await cluster.run(cluster.client.list(Pod, { namespace: 'default' }))
      assert.deepEqual(
        items.map(item => item.spec.nodeName),
        ['calm', 'calm', 'calm'],
      )
    })
  })

  it('leaves pods of other schedulers alone', async () => {
    await withScheduler({}, async cluster => {
      await addNode(cluster, 'only')
      await addPod(cluster, 'other', { spec: { schedulerName: 'mine' } })
      await cluster.advance(5_000)
      assert.equal((await pod(cluster, 'other'))?.spec.nodeName, undefined)
    })
  })

  it('does nothing while idle, however many pods there are', async () => {
    let tries = 0
    const counter: SchedulerPlugin = {
      name: 'Counter',
      preFilter: () => {
        tries++
        return undefined
      },
    }
    await withScheduler({ plugins: [counter] }, async cluster => {
      await addNode(cluster, 'only', { cpu: '64' })
      for (let index = 0; index < 10; index++) await addPod(cluster, `p${index}`)
      await cluster.advance(5_000)
      assert.equal(tries, 10)
      const asked: string[] = []
      using _ = cluster.intercept(async (request, next) => {
        asked.push(`${request.method} ${request.path}`)
        return await next(request)
      })
      const node = await cluster.run(cluster.client.get(Node, { name: 'only' }))
      for (let beat = 0; beat < 10; beat++) {
        const heartbeat = {
          type: 'Ready',
          status: 'True' as const,
          lastHeartbeatTime: `2026-01-01T00:00:0${beat}Z`,
        }
        const status = { ...node!.status, conditions: [heartbeat] }
        await cluster.run(
          cluster.client.patch(Node, { name: 'only' }, { status }, { type: 'merge', subresource: 'status' }),
        )
        await cluster.advance(20_000)
      }
      assert.equal(tries, 10)
      const isOthers = (request: string) => /nodes\/only|\/apis?$/.test(request) // heartbeats, discovery
      assert.deepEqual(
        asked.filter(request => !isOthers(request)),
        [],
      )
    })
  })
})
