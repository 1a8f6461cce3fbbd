import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ConfigMap, Event, Node, Service } from '@coxswain/api/core/v1'
import { parseCIDR } from '@coxswain/apimachinery/validation'
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
import type { Cluster } from '@coxswain/testing'
import { addNode } from '@coxswain/testing/test-support/add-node'
import { scenariosOf } from '@coxswain/testing/test-support/play'

const cloud = createLocalCloud()

async function entries(cluster: Cluster): Promise<Record<string, Record<string, unknown>>> {
  const found = await cluster.run(cluster.client.get(ConfigMap, localCloudKey))
  return Object.fromEntries(
    Object.entries(found?.data ?? {}).map(([entry, text]) => [entry, JSON.parse(text)]),
  )
}

async function setEntry(cluster: Cluster, entry: string, value: object | null): Promise<void> {
  const text = value && JSON.stringify(value)
  await cluster.run(
    cluster.client.patch(ConfigMap, localCloudKey, { data: { [entry]: text } }, { type: 'merge' }),
  )
}

const getNode = (cluster: Cluster, name: string) => cluster.run(cluster.client.get(Node, { name }))

async function setReady(cluster: Cluster, name: string, status: 'True' | 'Unknown'): Promise<void> {
  const conditions = [{ type: 'Ready', status }]
  const options = { type: 'strategic', subresource: 'status' } as const
  await cluster.run(cluster.client.patch(Node, { name }, { status: { conditions } }, options))
}

describe('nodes of a cloud', () => {
  const controllers = () => [createCloudNodeController(cloud), createCloudNodeLifecycleController(cloud)]
  const scenario = scenariosOf('cloud-node-controller', { controllers })
  const lifecycle = scenariosOf('cloud-node-lifecycle-controller', { controllers })
  const register = async (cluster: Cluster) => {
    await cluster.run(
      cluster.client.create(Node, {
        metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
        spec: { taints: [{ key: uninitializedTaint, value: 'true', effect: 'NoSchedule' }] },
      }),
    )
    await setReady(cluster, 'n1', 'True')
    await cluster.advance(5_000)
  }
  const taintsOf = async (cluster: Cluster) =>
    (await getNode(cluster, 'n1'))?.spec?.taints
      ?.map(({ key }) => key)
      .filter(key => key.startsWith('node.cloudprovider')) ?? []

  scenario('that wait for it are initialized', {
    act: register,
    look: async cluster => {
      const node = await getNode(cluster, 'n1')
      const instances = Object.keys(await entries(cluster))
      const { labels } = node!.metadata
      const { providerID } = node!.spec ?? {}
      return [providerID, await taintsOf(cluster), labels, node?.status?.addresses, instances]
    },
    end: [
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
  })

  lifecycle('are tainted while their instances are shut down', {
    act: async cluster => {
      await register(cluster)
      const instance = (await entries(cluster))['instance.n1']!
      await setEntry(cluster, 'instance.n1', { ...instance, state: 'stopped' })
      await cluster.advance(20_000)
      assert.deepEqual(await taintsOf(cluster), [], 'the instances of ready nodes are not checked')
      await setReady(cluster, 'n1', 'Unknown')
      await cluster.advance(20_000)
      assert.deepEqual(await taintsOf(cluster), ['node.cloudprovider.kubernetes.io/shutdown'])
      await setReady(cluster, 'n1', 'True')
    },
    look: taintsOf,
    end: [],
  })

  lifecycle('that are not ready are deleted with their instances, and others are not', {
    act: async cluster => {
      await register(cluster)
      await addNode(cluster, 'mine')
      await setEntry(cluster, 'instance.n1', null)
      await cluster.advance(20_000)
      assert.ok(await getNode(cluster, 'n1'), 'a ready node has an instance')
      await setReady(cluster, 'n1', 'Unknown')
      await setReady(cluster, 'mine', 'Unknown')
    },
    look: async cluster => {
      const { items } = await cluster.run(cluster.client.list(Node))
      const { items: events } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
      const recorded = events.filter(({ reason }) => reason === 'DeletingNode')
      return [
        items.map(({ metadata }) => metadata.name),
        recorded[0]?.source?.component,
        recorded[0]?.message,
      ]
    },
    end: [
      ['mine'],
      'cloud-node-lifecycle-controller',
      'Deleting node n1 because it does not exist in the cloud provider',
    ],
  })

  scenario('have both the new and the deprecated labels', {
    act: async cluster => {
      const labels = {
        'failure-domain.beta.kubernetes.io/zone': 'z',
        'topology.kubernetes.io/zone': 'y',
        'beta.kubernetes.io/instance-type': 'big',
      }
      await cluster.run(cluster.client.create(Node, { metadata: { name: 'old', labels } }))
    },
    look: async cluster => {
      const { labels } = (await getNode(cluster, 'old'))!.metadata
      return [labels?.['topology.kubernetes.io/zone'], labels?.['node.kubernetes.io/instance-type']]
    },
    end: ['z', 'big'],
  })
})

describe('services of type LoadBalancer', () => {
  const controllers = () => [createServiceLbController(cloud)]
  const scenario = scenariosOf('service-lb-controller', { controllers })
  const key = { namespace: 'default', name: 'web' }
  const expose = (cluster: Cluster, spec: object = {}) =>
    cluster.run(
      cluster.client.create(Service, {
        metadata: key,
        spec: {
          type: 'LoadBalancer',
          selector: { app: 'web' },
          ports: [{ port: 80, nodePort: 30080 }],
          ...spec,
        },
      }),
    )
  const getService = (cluster: Cluster) => cluster.run(cluster.client.get(Service, key))
  const balancers = async (cluster: Cluster) =>
    Object.entries(await entries(cluster)).filter(([entry]) => entry.startsWith('load-balancer.'))
  const reasons = async (cluster: Cluster) => {
    const { items } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
    const ours = items.filter(({ source }) => source?.component === 'service-controller')
    return new Set(ours.map(({ reason }) => reason))
  }

  scenario('get an address, a finalizer, and an entry with their node ports', {
    act: async cluster => {
      await addNode(cluster, 'n1')
      await expose(cluster, { loadBalancerSourceRanges: ['10.0.0.0/8'] })
    },
    look: async cluster => {
      const service = await getService(cluster)
      const recorded = await reasons(cluster)
      const [[entry, balancer] = []] = await balancers(cluster)
      assert.equal(entry, `load-balancer.${defaultLoadBalancerName(service!)}`)
      return [
        service?.status?.loadBalancer?.ingress,
        service?.metadata.finalizers,
        balancer,
        ['EnsuringLoadBalancer', 'EnsuredLoadBalancer'].every(reason => recorded.has(reason)),
      ]
    },
    end: [
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
  })

  scenario('follow the nodes, except excluded ones', {
    act: async cluster => {
      await addNode(cluster, 'n1')
      await addNode(cluster, 'n2')
      await expose(cluster)
      await cluster.advance(10_000)
      await addNode(cluster, 'n3')
      await addNode(cluster, 'n4', {
        labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' },
      })
      await cluster.advance(10_000)
      const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' }
      await cluster.run(
        cluster.client.patch(Node, { name: 'n2' }, { metadata: { labels } }, { type: 'merge' }),
      )
    },
    look: async cluster => (await balancers(cluster)).map(([, { nodes }]) => nodes),
    end: [['n1', 'n3']],
  })

  scenario('follow their ports', {
    act: async cluster => {
      await expose(cluster)
      await cluster.advance(10_000)
      const ports = [{ port: 81, nodePort: 30081 }]
      await cluster.run(cluster.client.patch(Service, key, { spec: { ports } }, { type: 'merge' }))
    },
    look: async cluster => [
      (await balancers(cluster)).map(([, { ports }]) => ports),
      (await reasons(cluster)).has('UnAvailableLoadBalancer'),
    ],
    end: [[['81/TCP at 127.0.0.1:30081']], true],
  })

  scenario('are deleted when their load balancers are', {
    act: async cluster => {
      await expose(cluster)
      await cluster.advance(10_000)
      await cluster.run(cluster.client.delete(Service, key))
    },
    look: async cluster => [await getService(cluster), await balancers(cluster)],
    end: [undefined, []],
  })

  scenario('that are deleted at once leave no load balancer behind', {
    act: async cluster => {
      await expose(cluster)
      await cluster.advance(1_000)
      await cluster.run(cluster.client.delete(Service, key))
    },
    look: async cluster => [await getService(cluster), await balancers(cluster)],
    end: [undefined, []],
  })

  scenario('that change their type lose their load balancer', {
    act: async cluster => {
      await expose(cluster)
      await cluster.advance(10_000)
      await cluster.run(
        cluster.client.patch(Service, key, { spec: { type: 'ClusterIP' } }, { type: 'merge' }),
      )
    },
    look: async cluster => {
      const service = await getService(cluster)
      return [service?.status?.loadBalancer, service?.metadata.finalizers, await balancers(cluster)]
    },
    end: [{}, undefined, []],
  })

  scenario('leave no load balancer behind when a user removes the finalizer', {
    act: async cluster => {
      await expose(cluster)
      await cluster.advance(20_000)
      await cluster.run(
        cluster.client.patch(Service, key, { metadata: { finalizers: null } }, { type: 'merge' }),
      )
      await cluster.run(cluster.client.delete(Service, key))
    },
    look: balancers,
    end: [],
  })

  const reluctant = (): CloudProvider => {
    let refusals = 2
    const { name, loadBalancers } = cloud
    const ensure: LoadBalancers['ensure'] = async (...call) => {
      if (refusals-- > 0) throw new Error('no quota')
      return await loadBalancers!.ensure(...call)
    }
    return { name, loadBalancers: { ...loadBalancers!, ensure } }
  }
  scenario('report an error of their cloud, and retry', {
    controllers: () => [createServiceLbController(reluctant())],
    act: cluster => expose(cluster).then(() => {}),
    look: async cluster => {
      const { items } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
      const recorded = items.find(({ reason }) => reason === 'SyncLoadBalancerFailed')
      return [(await getService(cluster))?.status?.loadBalancer?.ingress?.length, recorded?.message]
    },
    end: [1, 'Error syncing load balancer: no quota'],
  })

  scenario('with a loadBalancerClass are left alone', {
    act: cluster => expose(cluster, { loadBalancerClass: 'example.com/other' }).then(() => {}),
    look: async cluster => [(await getService(cluster))?.metadata.finalizers, await balancers(cluster)],
    end: [undefined, []],
  })
})

describe('routes', () => {
  const clusterCIDRs = [parseCIDR('10.244.0.0/16')!]
  const controllers = () => [createNodeRouteController(cloud, { clusterCIDRs })]
  const scenario = scenariosOf('node-route-controller', { controllers })
  const addRouted = async (cluster: Cluster, name: string, podCIDR: string) => {
    await addNode(cluster, name)
    const spec = { podCIDR, podCIDRs: [podCIDR] }
    await cluster.run(cluster.client.patch(Node, { name }, { spec }, { type: 'merge' }))
  }
  const conditionOf = async (cluster: Cluster, name: string) => {
    const { conditions = [] } = (await getNode(cluster, name))?.status ?? {}
    const { status, reason } = conditions.find(({ type }) => type === 'NetworkUnavailable') ?? {}
    return [status, reason]
  }

  scenario('are created for every node with a pod CIDR and reported on the node', {
    act: async cluster => {
      await addRouted(cluster, 'n1', '10.244.0.0/24')
      await addRouted(cluster, 'n2', '10.244.1.0/24')
      await addNode(cluster, 'n3')
    },
    look: async cluster => [
      Object.values(await entries(cluster)).map(({ targetNode, destinationCIDR }) => [
        targetNode,
        destinationCIDR,
      ]),
      await conditionOf(cluster, 'n1'),
      await conditionOf(cluster, 'n3'),
    ],
    end: [
      [
        ['n1', '10.244.0.0/24'],
        ['n2', '10.244.1.0/24'],
      ],
      ['False', 'RouteCreated'],
      [undefined, undefined],
    ],
  })

  const { name, routes } = cloud
  const create: Routes['create'] = async (route, context) => {
    if (route.targetNode === 'n2') throw new Error('the table is full')
    await routes!.create(route, context)
  }
  scenario('that cannot be created leave their node with NetworkUnavailable', {
    controllers: () => [
      createNodeRouteController({ name, routes: { ...routes!, create } }, { clusterCIDRs }),
    ],
    act: async cluster => {
      await addRouted(cluster, 'n1', '10.244.0.0/24')
      await addRouted(cluster, 'n2', '10.244.1.0/24')
    },
    look: async cluster => {
      const { items } = await cluster.run(cluster.client.list(Event, { namespace: 'default' }))
      const recorded = items.find(({ reason }) => reason === 'FailedToCreateRoute')
      return [
        await conditionOf(cluster, 'n1'),
        await conditionOf(cluster, 'n2'),
        recorded?.source?.component,
        /10\.244\.1\.0\/24 for node n2: the table is full$/.test(recorded?.message ?? ''),
      ]
    },
    end: [['False', 'RouteCreated'], ['True', 'NoRouteCreated'], 'route_controller', true],
  })

  scenario('are deleted with their nodes, recreated when they are lost, and left alone elsewhere', {
    act: async cluster => {
      await addRouted(cluster, 'n1', '10.244.0.0/24')
      await addRouted(cluster, 'n2', '10.244.1.0/24')
      await cluster.advance(5_000)
      await setEntry(cluster, 'route.theirs', { targetNode: 'x', destinationCIDR: '192.168.0.0/24' })
      await setEntry(cluster, 'route.n1.10.244.0.0-24', null)
      await cluster.run(cluster.client.delete(Node, { name: 'n2' }))
    },
    look: async cluster => Object.keys(await entries(cluster)),
    end: ['route.n1.10.244.0.0-24', 'route.theirs'],
  })
})
