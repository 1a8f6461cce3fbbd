import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Endpoints, Event, Node, Pod, Service } from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import {
  createEndpointSliceController,
  createEndpointSliceMirroringController,
  createEndpointsController,
} from '@coxswain/controllers'
import { VirtualWorld } from '@coxswain/kit'
import { type Cluster, startCluster } from '@coxswain/testing'
import { type Scenario, scenariosOf } from '@coxswain/testing/test-support/play'

const namespace = 'default'
const labels = { app: 'web' }
const key = { namespace, name: 'web' }
const controllers = () => [
  createEndpointSliceController(),
  createEndpointsController(),
  createEndpointSliceMirroringController(),
]

interface PodShape {
  readonly ip?: string
  readonly ips?: readonly string[]
  readonly ready?: boolean
  readonly spec?: object
  readonly port?: number
  readonly labels?: Record<string, string>
}

async function createNode(cluster: Cluster): Promise<void> {
  await cluster.run(
    cluster.client.create(Node, {
      metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } },
    }),
  )
}

async function createPod(cluster: Cluster, name: string, shape: PodShape = {}): Promise<void> {
  const ips = shape.ips ?? [shape.ip ?? '10.1.0.1']
  await cluster.run(
    cluster.client.create(Pod, {
      metadata: { name, namespace, labels: shape.labels ?? labels },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: shape.port ?? 8080 }] }],
        ...shape.spec,
      },
    }),
  )
  const status = {
    phase: 'Running',
    podIP: ips[0],
    podIPs: ips.map(ip => ({ ip })),
    conditions: [{ type: 'Ready', status: (shape.ready ?? true) ? 'True' : 'False' }],
  }
  await cluster.run(
    cluster.client.patch(Pod, { namespace, name }, { status }, { type: 'merge', subresource: 'status' }),
  )
}

async function createService(cluster: Cluster, spec: object = {}): Promise<void> {
  await cluster.run(
    cluster.client.create(Service, {
      metadata: { ...key, labels: { team: 'a' } },
      spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...spec } as never,
    }),
  )
}

const slicesOf = async (cluster: Cluster) =>
  (
    await cluster.run(
      cluster.client.list(EndpointSlice, { namespace, labelSelector: 'kubernetes.io/service-name=web' }),
    )
  ).items

/** `IPv4 http:8080/TCP 10.1.0.1 ready serving`, sorted. */
async function describeSlices(cluster: Cluster): Promise<string[]> {
  const lines = (await slicesOf(cluster)).flatMap(({ addressType, ports, endpoints }) => {
    const where = (ports ?? []).map(({ name, port, protocol }) => `${name}:${port}/${protocol}`).join()
    if (!endpoints?.length) return [`${addressType} ${where} empty`]
    return endpoints.map(({ addresses, conditions }) =>
      [
        addressType,
        where,
        addresses.join(),
        ...Object.entries(conditions ?? {}).flatMap(([name, value]) => (value ? [name] : [])),
      ].join(' '),
    )
  })
  return lines.sort()
}

const endpointsOf = async (cluster: Cluster) => await cluster.run(cluster.client.get(Endpoints, key))

async function withControllers(body: (cluster: Cluster) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
  for (const controller of controllers()) cluster.start(controller)
  await cluster.advance(1_000)
  await createNode(cluster)
  await body(cluster)
}

const plays: readonly (Pick<Scenario, 'act' | 'look' | 'end'> & {
  readonly name: string
  readonly of?: string
})[] = [
  {
    name: 'a service has the addresses of its pods, grouped by target port',
    act: async cluster => {
      await createNode(cluster)
      await createService(cluster)
      await createPod(cluster, 'a', { ip: '10.1.0.1' })
      await createPod(cluster, 'b', { ip: '10.1.0.2', port: 9090 })
      await createPod(cluster, 'c', { ip: '10.1.0.3', ready: false })
      await createPod(cluster, 'd', { ip: '10.1.0.4', labels: { app: 'other' } })
    },
    look: describeSlices,
    end: [
      'IPv4 http:8080/TCP 10.1.0.1 ready serving',
      'IPv4 http:8080/TCP 10.1.0.3',
      'IPv4 http:9090/TCP 10.1.0.2 ready serving',
    ],
  },
  {
    name: 'a pod that becomes unready or is deleted stops being an endpoint',
    act: async cluster => {
      await createNode(cluster)
      await createService(cluster)
      await createPod(cluster, 'a', { ip: '10.1.0.1' })
      await createPod(cluster, 'b', { ip: '10.1.0.2' })
      await cluster.advance(1_000)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'b' }, { gracePeriodSeconds: 0 }))
      const status = { conditions: [{ type: 'Ready', status: 'False' }] }
      await cluster.run(
        cluster.client.patch(
          Pod,
          { namespace, name: 'a' },
          { status },
          { type: 'merge', subresource: 'status' },
        ),
      )
    },
    look: async cluster => [
      await describeSlices(cluster),
      (await endpointsOf(cluster))?.subsets?.[0]?.addresses,
    ],
    end: [['IPv4 http:8080/TCP 10.1.0.1'], undefined],
  },
  {
    name: 'a service without pods keeps one empty slice',
    act: async cluster => {
      await createNode(cluster)
      await createService(cluster)
      await createPod(cluster, 'a')
      await cluster.advance(1_000)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'a' }, { gracePeriodSeconds: 0 }))
    },
    look: describeSlices,
    end: ['IPv4  empty'],
  },
  {
    name: 'Endpoints managed by users are mirrored, and updated',
    of: 'endpointslice-mirroring-controller',
    act: async cluster => {
      const ports = [{ name: 'db', port: 5432, protocol: 'TCP' as const }]
      await createService(cluster, { selector: undefined, ports: [{ name: 'db', port: 5432 }] })
      const made = await cluster.run(
        cluster.client.create(Endpoints, {
          metadata: key,
          subsets: [{ addresses: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }], ports }],
        }),
      )
      await cluster.advance(1_000)
      const subsets = [{ addresses: [{ ip: '192.0.2.2' }], notReadyAddresses: [{ ip: '192.0.2.3' }], ports }]
      await cluster.run(cluster.client.update(Endpoints, { ...made, subsets }))
    },
    look: describeSlices,
    end: ['IPv4 db:5432/TCP 192.0.2.2 ready', 'IPv4 db:5432/TCP 192.0.2.3'],
  },
  {
    name: 'Endpoints of several subsets are mirrored to one slice',
    act: async cluster => {
      await createService(cluster, { selector: undefined, ports: [{ name: 'db', port: 5432 }] })
      const addresses = [{ ip: '192.0.2.1' }]
      await cluster.run(
        cluster.client.create(Endpoints, {
          metadata: key,
          subsets: [
            { addresses, ports: [{ name: 'db', port: 5432 }] },
            { addresses, ports: [{ name: 'admin', port: 5433 }] },
          ],
        }),
      )
    },
    look: describeSlices,
    end: ['IPv4 admin:5433/TCP,db:5432/TCP 192.0.2.1 ready'],
  },
  {
    name: 'mirrored slices are deleted with their Endpoints',
    of: 'endpointslice-mirroring-controller',
    act: async cluster => {
      await createService(cluster, { selector: undefined })
      await cluster.run(
        cluster.client.create(Endpoints, {
          metadata: key,
          subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'http', port: 1 }] }],
        }),
      )
      await cluster.advance(1_000)
      await cluster.run(cluster.client.delete(Endpoints, key))
    },
    look: describeSlices,
    end: [],
  },
  {
    name: 'Endpoints follow pods that are created, deleted, and become ready',
    of: 'endpoints-controller',
    act: async cluster => {
      await createNode(cluster)
      await createService(cluster)
      await createPod(cluster, 'a')
      await createPod(cluster, 'b', { ip: '10.1.0.2', ready: false })
      await cluster.advance(5_000)
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'a' }, { gracePeriodSeconds: 0 }))
      await createPod(cluster, 'c', { ip: '10.1.0.3' })
    },
    look: async cluster =>
      (await endpointsOf(cluster))?.subsets?.map(({ addresses, notReadyAddresses }) => [
        addresses?.map(({ ip }) => ip),
        notReadyAddresses?.map(({ ip }) => ip),
      ]),
    end: [[['10.1.0.3'], ['10.1.0.2']]],
  },
  {
    name: 'slices are restored when they are deleted or edited',
    act: async cluster => {
      await createNode(cluster)
      await createService(cluster)
      await createPod(cluster, 'a')
      await cluster.advance(5_000)
      const [slice] = await slicesOf(cluster)
      await cluster.run(cluster.client.update(EndpointSlice, { ...slice!, endpoints: [] }))
      await cluster.advance(5_000)
      for (const { metadata } of await slicesOf(cluster))
        await cluster.run(cluster.client.delete(EndpointSlice, { namespace, name: metadata.name }))
    },
    look: describeSlices,
    end: ['IPv4 http:8080/TCP 10.1.0.1 ready serving'],
  },
  {
    name: 'Endpoints are deleted with their service',
    of: 'endpoints-controller',
    act: async cluster => {
      await createNode(cluster)
      await createService(cluster)
      await createPod(cluster, 'a')
      await cluster.advance(1_000)
      await cluster.run(cluster.client.delete(Service, key))
    },
    look: async cluster => [await describeSlices(cluster), await endpointsOf(cluster)],
    end: [[], undefined],
  },
]

describe('endpoints of services, with the controllers killed after any write', () => {
  for (const { name, of = 'endpointslice-controller', ...play } of plays)
    scenariosOf(of, { controllers })(name, play)
})

describe('endpoint slices', () => {
  it('have labels, owner, conditions, node, zone, and trigger time', async () => {
    await withControllers(async cluster => {
      await createService(cluster)
      await createPod(cluster, 'a', { spec: { hostname: 'h', subdomain: 'web' } })
      await cluster.advance(1_000)
      const [slice] = await slicesOf(cluster)
      assert.deepEqual(slice?.metadata.labels, {
        team: 'a',
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      })
      assert.equal(slice.metadata.generateName, 'web-')
      const [owner] = slice.metadata.ownerReferences ?? []
      assert.deepEqual([owner?.kind, owner?.name, owner?.controller], ['Service', 'web', true])
      const [endpoint] = slice.endpoints ?? []
      assert.deepEqual([endpoint?.nodeName, endpoint?.zone, endpoint?.hostname], ['n1', 'z1', 'h'])
      assert.deepEqual(endpoint?.conditions, { ready: true, serving: true, terminating: false })
      assert.equal(endpoint?.targetRef?.name, 'a')
      assert.equal(endpoint?.hints, undefined)
    })
  })

  it('are packed by the hundred, stay in their slices, and take few writes', async () => {
    await withControllers(async cluster => {
      let writes = 0
      using _ = cluster.intercept(async (request, next) => {
        if (request.method !== 'GET' && request.path.includes('endpointslices')) writes++
        return await next(request)
      })
      await createService(cluster)
      for (let index = 1; index <= 130; index++)
        await createPod(cluster, `p${index}`, { ip: `10.1.0.${index}` })
      await cluster.advance(1_000)
      const before = await slicesOf(cluster)
      const sizes = before.map(({ endpoints }) => endpoints?.length ?? 0)
      assert.equal(sizes.length, 2)
      assert.equal(
        sizes.reduce((sum, size) => sum + size),
        130,
      )
      assert.ok(Math.max(...sizes) <= 100)
      writes = 0
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'p7' }, { gracePeriodSeconds: 0 }))
      await cluster.advance(1_000)
      // The pod is terminating for a moment before it is deleted.
      assert.ok(writes >= 1 && writes <= 2, `${writes} writes`)
    })
  })

  it('of a headless service are labelled, and unready pods are published if it says so', async () => {
    await withControllers(async cluster => {
      await createService(cluster, { clusterIP: 'None', publishNotReadyAddresses: true })
      await createPod(cluster, 'a', { ready: false })
      await cluster.advance(1_000)
      const [slice] = await slicesOf(cluster)
      assert.equal(slice?.metadata.labels?.['service.kubernetes.io/headless'], '')
      assert.deepEqual(slice?.endpoints?.[0]?.conditions, { ready: true, serving: false, terminating: false })
      const endpoints = await endpointsOf(cluster)
      assert.equal(endpoints?.metadata.labels?.['service.kubernetes.io/headless'], '')
      assert.equal(endpoints?.subsets?.[0]?.addresses?.[0]?.ip, '10.1.0.1')
    })
  })

  it('of a terminating pod are marked as terminating, and omitted from Endpoints', async () => {
    await withControllers(async cluster => {
      await createService(cluster)
      await createPod(cluster, 'a')
      await cluster.run(cluster.client.delete(Pod, { namespace, name: 'a' }))
      await cluster.advance(1_000)
      assert.deepEqual(await describeSlices(cluster), ['IPv4 http:8080/TCP 10.1.0.1 serving terminating'])
      assert.equal((await endpointsOf(cluster))?.subsets, undefined)
    })
  })

  it('have zone and node hints with traffic distribution', async () => {
    await withControllers(async cluster => {
      await createService(cluster, { trafficDistribution: 'PreferSameNode' })
      await createPod(cluster, 'a')
      await cluster.advance(1_000)
      const [slice] = await slicesOf(cluster)
      assert.deepEqual(slice?.endpoints?.[0]?.hints, {
        forZones: [{ name: 'z1' }],
        forNodes: [{ name: 'n1' }],
      })
    })
  })

  it('are distributed among zones if the service requests it, as far as nodes allow', async () => {
    await withControllers(async cluster => {
      const { client } = cluster
      for (const zone of ['z1', 'z2']) {
        const name = `of-${zone}`
        const labelled = { metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } } }
        const node = await cluster.run(client.create(Node, labelled))
        const conditions = [{ type: 'Ready', status: 'True' as const }]
        const status = { allocatable: { cpu: '4' }, conditions }
        await cluster.run(client.updateStatus(Node, { ...node, status }))
      }
      await createService(cluster)
      const setMode = (mode: string | null) => {
        const annotations = { 'service.kubernetes.io/topology-mode': mode }
        return cluster.run(client.patch(Service, key, { metadata: { annotations } }, { type: 'merge' }))
      }
      await setMode('Auto')
      for (let nth = 1; nth <= 4; nth++)
        await createPod(cluster, `pod-${nth}`, { ip: `10.1.0.${nth}`, spec: { nodeName: 'of-z1' } })
      await cluster.advance(1_000)
      const hints = async () => {
        const endpoints = (await slicesOf(cluster)).flatMap(slice => slice.endpoints ?? [])
        return endpoints.map(each => each.hints?.forZones?.map(({ name }) => name).join() ?? '').sort()
      }
      assert.deepEqual(await hints(), ['z1', 'z1', 'z2', 'z2'])
      await cluster.run(client.delete(Node, { name: 'of-z2' }))
      await cluster.advance(1_000)
      assert.deepEqual(await hints(), ['', '', '', ''])
      const { items } = await cluster.run(client.list(Event, { namespace }))
      const recorded = items.filter(({ reason }) => reason?.startsWith('TopologyAwareHints'))
      assert.deepEqual([...new Set(recorded.map(({ message }) => message))].sort(), [
        'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv4',
        'Insufficient number of endpoints (0 endpoints, 2 zones), addressType: IPv4',
        'Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4',
        'Topology Aware Hints has been enabled, addressType: IPv4',
        'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones), addressType: IPv4',
      ])
    })
  })

  it('are restored when they are deleted or edited, and follow the labels of the service', async () => {
    await withControllers(async cluster => {
      await createService(cluster)
      await createPod(cluster, 'a')
      await cluster.advance(1_000)
      const [slice] = await slicesOf(cluster)
      await cluster.run(cluster.client.update(EndpointSlice, { ...slice!, endpoints: [] }))
      await cluster.advance(1_000)
      assert.deepEqual(await describeSlices(cluster), ['IPv4 http:8080/TCP 10.1.0.1 ready serving'])
      await cluster.run(cluster.client.delete(EndpointSlice, { namespace, name: slice!.metadata.name }))
      await cluster.advance(1_000)
      assert.deepEqual(await describeSlices(cluster), ['IPv4 http:8080/TCP 10.1.0.1 ready serving'])
      await cluster.run(
        cluster.client.patch(Service, key, { metadata: { labels: { team: 'b' } } }, { type: 'merge' }),
      )
      await cluster.advance(1_000)
      assert.equal((await slicesOf(cluster))[0]?.metadata.labels?.team, 'b')
    })
  })

  it('ignore services of type ExternalName and those without selector', async () => {
    await withControllers(async cluster => {
      await createService(cluster, { type: 'ExternalName', externalName: 'example.com' })
      await createPod(cluster, 'a')
      await cluster.advance(1_000)
      assert.deepEqual(await describeSlices(cluster), [])
      assert.equal(await endpointsOf(cluster), undefined)
    })
  })

  it('record an event if the node of a pod does not exist', async () => {
    await withControllers(async cluster => {
      await createService(cluster)
      await createPod(cluster, 'a', { spec: { nodeName: 'n2' } })
      await cluster.advance(1_000)
      assert.deepEqual(await describeSlices(cluster), ['IPv4  empty'])
      const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
      const text =
        'Error updating Endpoint Slices for Service default/web: skipping Pod a for Service default/web: '
      assert.ok(items.some(({ message }) => message === `${text}Node n2 Not Found`))
      await cluster.run(cluster.client.create(Node, { metadata: { name: 'n2' } }))
      await cluster.advance(5_000)
      assert.deepEqual(await describeSlices(cluster), ['IPv4 http:8080/TCP 10.1.0.1 ready serving'])
    })
  })
})

describe('Endpoints', () => {
  it('without a service are left alone, from their creation until the controllers restart', async () => {
    await using cluster = await startCluster({ env: new VirtualWorld({ seed: 3 }) })
    const { client } = cluster
    const names = async () => (await cluster.run(client.list(Endpoints, { namespace }))).items.map(nameOf)
    const nameOf = ({ metadata }: Endpoints) => metadata.name
    const leader = { 'control-plane.alpha.kubernetes.io/leader': '{}' }
    const make = (name: string, annotations = {}) =>
      cluster.run(client.create(Endpoints, { metadata: { namespace, name, annotations } }))
    const before = await names()
    await make('leftover')
    await make('lease', leader)
    for (const controller of controllers()) cluster.start(controller)
    await cluster.advance(5_000)
    assert.deepEqual(await names(), [...before, 'lease'].sort())
    const made = await make('by-hand')
    await cluster.run(client.update(Endpoints, { ...made, subsets: [{ addresses: [{ ip: '10.9.0.1' }] }] }))
    await createPod(cluster, 'a')
    await cluster.advance(60_000)
    assert.deepEqual(await names(), [...before, 'by-hand', 'lease'].sort())
  })

  it('are deleted with their service, whatever else they are used for', async () => {
    await withControllers(async cluster => {
      await createService(cluster)
      await cluster.advance(1_000)
      const annotations = { 'control-plane.alpha.kubernetes.io/leader': '{}' }
      await cluster.run(
        cluster.client.patch(Endpoints, key, { metadata: { annotations } }, { type: 'merge' }),
      )
      await cluster.run(cluster.client.delete(Service, key))
      await cluster.advance(1_000)
      assert.equal(await endpointsOf(cluster), undefined)
    })
  })

  it('group addresses with the same ports, ready and not', async () => {
    await withControllers(async cluster => {
      await createService(cluster, {
        ports: [
          { name: 'http', port: 80, targetPort: 'http' },
          { name: 'admin', port: 81, targetPort: 9000 },
        ],
      })
      await createPod(cluster, 'a', { ip: '10.1.0.2' })
      await createPod(cluster, 'b', { ip: '10.1.0.1' })
      await createPod(cluster, 'c', { ip: '10.1.0.3', ready: false })
      await cluster.advance(1_000)
      const endpoints = await endpointsOf(cluster)
      assert.equal(endpoints?.subsets?.length, 1)
      const [subset] = endpoints?.subsets ?? []
      assert.deepEqual(
        subset?.addresses?.map(({ ip }) => ip),
        ['10.1.0.1', '10.1.0.2'],
      )
      assert.deepEqual(
        subset?.notReadyAddresses?.map(({ ip }) => ip),
        ['10.1.0.3'],
      )
      assert.deepEqual(
        subset?.ports?.map(({ name, port }) => `${name}:${port}`),
        ['admin:9000', 'http:8080'],
      )
      assert.equal(endpoints?.metadata.labels?.['endpoints.kubernetes.io/managed-by'], 'endpoint-controller')
    })
  })

  it('are not written again if nothing changed', async () => {
    await withControllers(async cluster => {
      await createService(cluster)
      await createPod(cluster, 'a')
      await cluster.advance(1_000)
      const before = (await endpointsOf(cluster))?.metadata.resourceVersion
      await cluster.run(
        cluster.client.patch(
          Pod,
          { namespace, name: 'a' },
          { metadata: { annotations: { x: 'y' } } },
          { type: 'merge' },
        ),
      )
      await cluster.advance(1_000)
      assert.equal((await endpointsOf(cluster))?.metadata.resourceVersion, before)
    })
  })
})
