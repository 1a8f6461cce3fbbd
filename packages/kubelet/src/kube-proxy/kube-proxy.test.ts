import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Event, Pod, Service } from '@coxswain/api/core/v1'
import { EndpointSlice } from '@coxswain/api/discovery/v1'
import { VirtualWorld } from '@coxswain/kit'
import {
  createKubeProxy,
  type EndpointPicker,
  type PortProblem,
  type ServiceSockets,
} from '@coxswain/kubelet'
import { type Cluster, startCluster } from '@coxswain/testing'

const namespace = 'default'
const address = '192.0.2.7'

/** Sockets that record what is opened. */
class FakeSockets implements ServiceSockets {
  readonly open_ = new Map<string, EndpointPicker>()
  /** The problem with a place, or with a port. */
  readonly problems = new Map<string, PortProblem>()
  readonly taken = new Set<number>()
  tries = 0
  isDisposed = false

  async open(
    { protocol, host, port }: { protocol: string; host: string; port: number },
    picker: EndpointPicker,
  ) {
    this.tries++
    const id = `${protocol} ${host}:${port}`
    const problem = this.problems.get(id)
    if (problem) return { opened: false as const, problem, message: 'no' }
    assert.ok(!this.open_.has(id), `${id} was opened twice`)
    this.open_.set(id, picker)
    return { opened: true as const, socket: { close: async () => void this.open_.delete(id) } }
  }

  async isTaken(_protocol: string, port: number) {
    return this.taken.has(port)
  }

  get places(): string[] {
    return [...this.open_.keys()].sort()
  }

  /** Where the next connection goes. */
  next(id: string, client = 'c'): string | undefined {
    const picker = this.open_.get(id)
    const [endpoint] = picker?.candidates(client) ?? []
    if (endpoint) picker?.connected(client, endpoint)
    return endpoint?.id
  }

  async [Symbol.asyncDispose]() {
    this.isDisposed = true
  }
}

interface Stage {
  readonly cluster: Cluster
  readonly sockets: FakeSockets
  readonly stop: () => Promise<void>
}

async function withProxy(body: (stage: Stage) => Promise<void>): Promise<void> {
  await using cluster = await startCluster({ env: new VirtualWorld({ seed: 5 }) })
  const sockets = new FakeSockets()
  const stop = cluster.start(createKubeProxy({ sockets, nodes: new Set(['node-1']), address }))
  await cluster.advance(1_000)
  sockets.open_.delete('TCP 127.96.0.1:443')
  await body({ cluster, sockets, stop })
}

async function addService(cluster: Cluster, spec: object = {}): Promise<void> {
  const ports = [{ name: 'http', port: 80, nodePort: 30080 }]
  await cluster.run(
    cluster.client.create(Service, {
      metadata: { namespace, name: 'web' },
      spec: { type: 'NodePort', clusterIP: '10.96.1.2', ports, ...spec },
    }),
  )
}

async function setEndpoints(cluster: Cluster, ...addresses: string[]): Promise<void> {
  await cluster.run(
    cluster.client.apply(
      EndpointSlice,
      {
        metadata: { namespace, name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        endpoints: addresses.map(one => ({ addresses: [one] })),
      },
      { fieldManager: 'test', force: true },
    ),
  )
  await cluster.advance(100)
}

async function addPod(cluster: Cluster, name: string, containerPort: number): Promise<void> {
  await cluster.run(
    cluster.client.create(Pod, {
      metadata: { namespace, name },
      spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i', ports: [{ containerPort }] }] },
    }),
  )
  await cluster.advance(100)
}

async function warningsOf(cluster: Cluster): Promise<string[]> {
  const { items } = await cluster.run(cluster.client.list(Event, { namespace }))
  return items.map(({ reason, message, source }) => `${source?.component} ${reason} ${message}`)
}

const [clusterPlace, nodePlace] = ['TCP 127.96.1.2:80', 'TCP 127.0.0.1:30080'] as const

describe('kube-proxy', () => {
  it('listens where a Service has endpoints, and follows changes of both', async () => {
    await withProxy(async ({ cluster, sockets }) => {
      await addService(cluster)
      await cluster.advance(1_000)
      assert.deepEqual(sockets.places, [])
      await setEndpoints(cluster, '10.1.0.1', '10.1.0.2')
      assert.deepEqual(sockets.places, [nodePlace, clusterPlace])
      assert.deepEqual(
        [1, 2, 3].map(() => sockets.next(clusterPlace)),
        ['10.1.0.1:8080', '10.1.0.2:8080', '10.1.0.1:8080'],
      )
      await setEndpoints(cluster, '10.1.0.3')
      assert.equal(sockets.next(nodePlace), '10.1.0.3:8080')
      assert.equal(sockets.tries, 3) // the API server's own Service, and these two
      await setEndpoints(cluster)
      assert.deepEqual(sockets.places, [])
      await setEndpoints(cluster, '10.1.0.3')
      await cluster.run(cluster.client.delete(Service, { namespace, name: 'web' }))
      await cluster.advance(100)
      assert.deepEqual(sockets.places, [])
    })
  })

  it('keeps a client on its endpoint at both addresses', async () => {
    await withProxy(async ({ cluster, sockets }) => {
      await addService(cluster, {
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      })
      await setEndpoints(cluster, '10.1.0.1', '10.1.0.2', '10.1.0.3')
      const own = sockets.next(clusterPlace, 'x')
      assert.notEqual(sockets.next(clusterPlace, 'y'), own)
      assert.equal(sockets.next(nodePlace, 'x'), own)
      await cluster.advance(59_000)
      assert.equal(sockets.next(nodePlace, 'x'), own)
      await cluster.advance(60_000)
      assert.notEqual(sockets.next(nodePlace, 'x'), own)
    })
  })

  it('warns of a port that another process has, and opens it when it is free', async () => {
    await withProxy(async ({ cluster, sockets }) => {
      sockets.problems.set(nodePlace, 'taken')
      await addService(cluster)
      await setEndpoints(cluster, '10.1.0.1')
      await cluster.advance(60_000)
      assert.deepEqual(sockets.places, [clusterPlace])
      assert.deepEqual(await warningsOf(cluster), [
        "kube-proxy PortUnavailable can't open port tcp/127.0.0.1:30080: no; will retry",
      ])
      sockets.problems.clear()
      await cluster.advance(5_000)
      assert.deepEqual(sockets.places, [nodePlace, clusterPlace])
    })
  })

  it('does not retry a permanent problem', async () => {
    await withProxy(async ({ cluster, sockets }) => {
      sockets.problems.set(clusterPlace, 'forbidden').set(nodePlace, 'no address')
      await addService(cluster)
      await setEndpoints(cluster, '10.1.0.1')
      const { tries } = sockets
      await cluster.advance(120_000)
      assert.equal(sockets.tries, tries)
      assert.deepEqual(await warningsOf(cluster), [
        "kube-proxy PortUnavailable can't open port tcp/127.96.1.2:80: no",
      ])
    })
  })

  it('gives way to a Pod that declares the port, and opens it again when the Pod listens', async () => {
    await withProxy(async ({ cluster, sockets }) => {
      await addService(cluster)
      await setEndpoints(cluster, '10.1.0.1')
      await addPod(cluster, 'greedy', 80)
      assert.deepEqual(sockets.places, [nodePlace])
      await cluster.advance(60_000)
      assert.deepEqual(sockets.places, [nodePlace])
      sockets.taken.add(80)
      await cluster.advance(1_000)
      assert.deepEqual(sockets.places, [nodePlace, clusterPlace])
      assert.deepEqual(await warningsOf(cluster), [])
    })
  })

  it("reports nothing when the Service's own Pod has the port on all addresses", async () => {
    await withProxy(async ({ cluster, sockets }) => {
      sockets.problems.set('TCP 127.96.1.2:8080', 'taken')
      sockets.taken.add(8080)
      await addService(cluster, { ports: [{ name: 'http', port: 8080, nodePort: 30080 }] })
      await setEndpoints(cluster, address)
      await cluster.advance(10_000)
      assert.deepEqual(sockets.places, [nodePlace])
      assert.deepEqual(await warningsOf(cluster), [])
    })
  })

  it('closes all sockets when it stops', async () => {
    await withProxy(async ({ sockets, stop }) => {
      await stop()
      assert.ok(sockets.isDisposed)
    })
  })
})
