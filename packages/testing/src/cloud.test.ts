import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigMap, Event, Node, Service } from '@coxswain/api/core/v1'
import { parseCIDR } from '@coxswain/apimachinery'
import {
  type CloudProvider,
  createCloudNodeController,
  createCloudNodeLifecycleController,
  createLocalCloud,
  createNodeRouteController,
  createServiceLbController,
  defaultLoadBalancerName,
  type LoadBalancers,
  localCloudKey,
  type Routes,
  uninitializedTaint,
} from '@coxswain/controllers'
import { playWorkload, type WorkloadStage } from './test-support/play-workload.ts'

const cloud = createLocalCloud()

async function entries(stage: WorkloadStage): Promise<Record<string, Record<string, unknown>>> {
  const found = await stage.run(stage.client.get(ConfigMap, localCloudKey))
  return Object.fromEntries(
    Object.entries(found?.data ?? {}).map(([entry, text]) => [entry, JSON.parse(text)]),
  )
}

async function setEntry(stage: WorkloadStage, entry: string, value: object | null): Promise<void> {
  const text = value && JSON.stringify(value)
  await stage.run(
    stage.client.patch(ConfigMap, localCloudKey, { data: { [entry]: text } }, { type: 'merge' }),
  )
}

const getNode = (stage: WorkloadStage, name: string) => stage.run(stage.client.get(Node, { name }))

async function setReady(stage: WorkloadStage, name: string, status: 'True' | 'Unknown'): Promise<void> {
  const conditions = [{ type: 'Ready', status }]
  const options = { type: 'strategic', subresource: 'status' } as const
  await stage.run(stage.client.patch(Node, { name }, { status: { conditions } }, options))
}

describe('nodes of a cloud', () => {
  const operators = () => [createCloudNodeController(cloud), createCloudNodeLifecycleController(cloud)]
  const register = async (stage: WorkloadStage) => {
    await stage.run(
      stage.client.create(Node, {
        metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
        spec: { taints: [{ key: uninitializedTaint, value: 'true', effect: 'NoSchedule' }] },
      }),
    )
    await setReady(stage, 'n1', 'True')
    await stage.later(5_000)
  }
  const taintsOf = async (stage: WorkloadStage) =>
    (await getNode(stage, 'n1'))?.spec?.taints
      ?.map(({ key }) => key)
      .filter(key => key.startsWith('node.cloudprovider')) ?? []

  it('that wait for it learn what they are', () =>
    playWorkload(
      {
        operators,
        act: register,
        end: async stage => {
          const node = await getNode(stage, 'n1')
          const instances = Object.keys(await entries(stage))
          const { labels } = node!.metadata
          const { providerID } = node!.spec ?? {}
          return [providerID, await taintsOf(stage), labels, node?.status?.addresses, instances]
        },
      },
      [
        'local://n1',
        [],
        {
          'kubernetes.io/hostname': 'n1',
          'topology.kubernetes.io/zone': 'local-1',
          'failure-domain.beta.kubernetes.io/zone': 'local-1',
          'topology.kubernetes.io/region': 'local',
          'failure-domain.beta.kubernetes.io/region': 'local',
          'node.kubernetes.io/instance-type': 'local',
          'beta.kubernetes.io/instance-type': 'local',
        },
        [{ type: 'InternalIP', address: '127.0.0.1' }],
        ['instance.n1'],
      ],
    ))

  it('are marked while their machines are stopped, and no longer', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await register(stage)
          const instance = (await entries(stage))['instance.n1']!
          await setEntry(stage, 'instance.n1', { ...instance, state: 'stopped' })
          await stage.later(20_000)
          assert.deepEqual(await taintsOf(stage), [], 'nobody asks for the machines of nodes that are ready')
          await setReady(stage, 'n1', 'Unknown')
          await stage.later(20_000)
          assert.deepEqual(await taintsOf(stage), ['node.cloudprovider.kubernetes.io/shutdown'])
          await setReady(stage, 'n1', 'True')
        },
        end: taintsOf,
      },
      [],
    ))

  it('go with their machines when they are not ready, and others do not', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await register(stage)
          await stage.addNode('mine')
          await setEntry(stage, 'instance.n1', null)
          await stage.later(20_000)
          assert.ok(await getNode(stage, 'n1'), 'a node that is ready has a machine')
          await setReady(stage, 'n1', 'Unknown')
          await setReady(stage, 'mine', 'Unknown')
        },
        end: async stage => {
          const { items } = await stage.run(stage.client.list(Node))
          const { items: events } = await stage.run(stage.client.list(Event, { namespace: 'default' }))
          const told = events.filter(({ reason }) => reason === 'DeletingNode')
          return [items.map(({ metadata }) => metadata.name), told[0]?.source?.component, told[0]?.message]
        },
      },
      [
        ['mine'],
        'cloud-node-lifecycle-controller',
        'Deleting node n1 because it does not exist in the cloud provider',
      ],
    ))

  it('say the same with the new names of labels as with the old', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          const labels = {
            'failure-domain.beta.kubernetes.io/zone': 'z',
            'topology.kubernetes.io/zone': 'y',
            'beta.kubernetes.io/instance-type': 'big',
          }
          await stage.run(stage.client.create(Node, { metadata: { name: 'old', labels } }))
        },
        end: async stage => {
          const { labels } = (await getNode(stage, 'old'))!.metadata
          return [labels?.['topology.kubernetes.io/zone'], labels?.['node.kubernetes.io/instance-type']]
        },
      },
      ['z', 'big'],
    ))
})

describe('services of type LoadBalancer', () => {
  const operators = () => [createServiceLbController(cloud)]
  const key = { namespace: 'default', name: 'web' }
  const expose = (stage: WorkloadStage, spec: object = {}) =>
    stage.run(
      stage.client.create(Service, {
        metadata: key,
        spec: {
          type: 'LoadBalancer',
          selector: { app: 'web' },
          ports: [{ port: 80, nodePort: 30080 }],
          ...spec,
        },
      }),
    )
  const getService = (stage: WorkloadStage) => stage.run(stage.client.get(Service, key))
  const balancers = async (stage: WorkloadStage) =>
    Object.entries(await entries(stage)).filter(([entry]) => entry.startsWith('load-balancer.'))
  const reasons = async (stage: WorkloadStage) => {
    const { items } = await stage.run(stage.client.list(Event, { namespace: 'default' }))
    const ours = items.filter(({ source }) => source?.component === 'service-controller')
    return new Set(ours.map(({ reason }) => reason))
  }

  it('get an address, a finalizer, and an entry with their node ports', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await stage.addNode('n1')
          await expose(stage, { loadBalancerSourceRanges: ['10.0.0.0/8'] })
        },
        end: async stage => {
          const service = await getService(stage)
          const told = await reasons(stage)
          const [[entry, balancer] = []] = await balancers(stage)
          assert.equal(entry, `load-balancer.${defaultLoadBalancerName(service!)}`)
          return [
            service?.status?.loadBalancer?.ingress,
            service?.metadata.finalizers,
            balancer,
            ['EnsuringLoadBalancer', 'EnsuredLoadBalancer'].every(reason => told.has(reason)),
          ]
        },
      },
      [
        [{ ip: '127.0.0.1', ipMode: 'Proxy' }],
        ['service.kubernetes.io/load-balancer-cleanup'],
        {
          service: 'default/web',
          address: '127.0.0.1',
          ports: ['80/TCP at 127.0.0.1:30080'],
          sourceRanges: ['10.0.0.0/8'],
          nodes: ['n1'],
        },
        true,
      ],
    ))

  it('keep up with the nodes, except those that are left out', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await stage.addNode('n1')
          await stage.addNode('n2')
          await expose(stage)
          await stage.later(10_000)
          await stage.addNode('n3')
          await stage.addNode('n4', { 'node.kubernetes.io/exclude-from-external-load-balancers': '' })
          await stage.later(10_000)
          const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' }
          await stage.run(
            stage.client.patch(Node, { name: 'n2' }, { metadata: { labels } }, { type: 'merge' }),
          )
        },
        end: async stage => (await balancers(stage)).map(([, { nodes }]) => nodes),
      },
      [['n1', 'n3']],
    ))

  it('follow their ports', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await expose(stage)
          await stage.later(10_000)
          const ports = [{ port: 81, nodePort: 30081 }]
          await stage.run(stage.client.patch(Service, key, { spec: { ports } }, { type: 'merge' }))
        },
        end: async stage => [
          (await balancers(stage)).map(([, { ports }]) => ports),
          (await reasons(stage)).has('UnAvailableLoadBalancer'),
        ],
      },
      [[['81/TCP at 127.0.0.1:30081']], true],
    ))

  it('go when their load balancers are gone', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await expose(stage)
          await stage.later(10_000)
          await stage.run(stage.client.delete(Service, key))
        },
        end: async stage => [await getService(stage), await balancers(stage)],
      },
      [undefined, []],
    ))

  it('that become another type lose theirs', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await expose(stage)
          await stage.later(10_000)
          await stage.run(
            stage.client.patch(Service, key, { spec: { type: 'ClusterIP' } }, { type: 'merge' }),
          )
        },
        end: async stage => {
          const service = await getService(stage)
          return [service?.status?.loadBalancer, service?.metadata.finalizers, await balancers(stage)]
        },
      },
      [{}, undefined, []],
    ))

  it('leave nothing behind when somebody takes off the finalizer', async () => {
    await playWorkload(
      {
        operators,
        act: async stage => {
          await expose(stage)
          await stage.later(20_000)
          await stage.run(
            stage.client.patch(Service, key, { metadata: { finalizers: null } }, { type: 'merge' }),
          )
          await stage.run(stage.client.delete(Service, key))
        },
        end: balancers,
      },
      [],
    )
  })

  it('are told when their cloud refuses, and tried again', () => {
    const reluctant = (): CloudProvider => {
      let refusals = 2
      const { name, loadBalancers } = cloud
      const ensure: LoadBalancers['ensure'] = async (...call) => {
        if (refusals-- > 0) throw new Error('no quota')
        return await loadBalancers!.ensure(...call)
      }
      return { name, loadBalancers: { ...loadBalancers!, ensure } }
    }
    return playWorkload(
      {
        operators: () => [createServiceLbController(reluctant())],
        act: stage => expose(stage).then(() => {}),
        end: async stage => {
          const { items } = await stage.run(stage.client.list(Event, { namespace: 'default' }))
          const told = items.find(({ reason }) => reason === 'SyncLoadBalancerFailed')
          return [(await getService(stage))?.status?.loadBalancer?.ingress?.length, told?.message]
        },
      },
      [1, 'Error syncing load balancer: no quota'],
    )
  })

  it('with a class are somebody else’s', () =>
    playWorkload(
      {
        operators,
        act: stage => expose(stage, { loadBalancerClass: 'example.com/other' }).then(() => {}),
        end: async stage => [(await getService(stage))?.metadata.finalizers, await balancers(stage)],
      },
      [undefined, []],
    ))
})

describe('routes', () => {
  const clusterCIDRs = [parseCIDR('10.244.0.0/16')!]
  const operators = () => [createNodeRouteController(cloud, { clusterCIDRs })]
  const addNode = async (stage: WorkloadStage, name: string, podCIDR: string) => {
    await stage.addNode(name)
    const spec = { podCIDR, podCIDRs: [podCIDR] }
    await stage.run(stage.client.patch(Node, { name }, { spec }, { type: 'merge' }))
  }
  const conditionOf = async (stage: WorkloadStage, name: string) => {
    const { conditions = [] } = (await getNode(stage, name))?.status ?? {}
    const { status, reason } = conditions.find(({ type }) => type === 'NetworkUnavailable') ?? {}
    return [status, reason]
  }

  it('lead to the pods of every node that has a range, and the node says so', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await addNode(stage, 'n1', '10.244.0.0/24')
          await addNode(stage, 'n2', '10.244.1.0/24')
          await stage.addNode('n3')
        },
        end: async stage => [
          Object.values(await entries(stage)).map(({ targetNode, destinationCIDR }) => [
            targetNode,
            destinationCIDR,
          ]),
          await conditionOf(stage, 'n1'),
          await conditionOf(stage, 'n3'),
        ],
      },
      [
        [
          ['n1', '10.244.0.0/24'],
          ['n2', '10.244.1.0/24'],
        ],
        ['False', 'RouteCreated'],
        [undefined, undefined],
      ],
    ))

  it('that cannot be made leave their node without a network, and it says so', () => {
    const { name, routes } = cloud
    const create: Routes['create'] = async (route, context) => {
      if (route.targetNode === 'n2') throw new Error('the table is full')
      await routes!.create(route, context)
    }
    return playWorkload(
      {
        operators: () => [
          createNodeRouteController({ name, routes: { ...routes!, create } }, { clusterCIDRs }),
        ],
        act: async stage => {
          await addNode(stage, 'n1', '10.244.0.0/24')
          await addNode(stage, 'n2', '10.244.1.0/24')
        },
        end: async stage => {
          const { items } = await stage.run(stage.client.list(Event, { namespace: 'default' }))
          const told = items.find(({ reason }) => reason === 'FailedToCreateRoute')
          return [
            await conditionOf(stage, 'n1'),
            await conditionOf(stage, 'n2'),
            told?.source?.component,
            /10\.244\.1\.0\/24 for node n2: the table is full$/.test(told?.message ?? ''),
          ]
        },
      },
      [['False', 'RouteCreated'], ['True', 'NoRouteCreated'], 'route_controller', true],
    )
  })

  it('go with their nodes, come back when they are lost, and are left alone elsewhere', () =>
    playWorkload(
      {
        operators,
        act: async stage => {
          await addNode(stage, 'n1', '10.244.0.0/24')
          await addNode(stage, 'n2', '10.244.1.0/24')
          await stage.later(5_000)
          await setEntry(stage, 'route.theirs', { targetNode: 'x', destinationCIDR: '192.168.0.0/24' })
          await setEntry(stage, 'route.n1.10.244.0.0-24', null)
          await stage.run(stage.client.delete(Node, { name: 'n2' }))
        },
        end: async stage => Object.keys(await entries(stage)),
      },
      ['route.n1.10.244.0.0-24', 'route.theirs'],
    ))
})
