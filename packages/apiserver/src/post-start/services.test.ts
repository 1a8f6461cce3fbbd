import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore, type Store } from '@coxswain/storage'
import { createInProcessTransport } from '@coxswain/wire'
import { createApiServer } from '../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }
const services = '/api/v1/namespaces/default/services'
const addresses = '/apis/networking.k8s.io/v1/ipaddresses'

interface Answer {
  readonly status: number
  readonly body: {
    readonly message: string
    readonly items: readonly { readonly metadata: { readonly name: string } }[]
    readonly metadata: { readonly name: string; readonly resourceVersion: string }
    readonly spec: {
      readonly clusterIP: string
      readonly clusterIPs: readonly string[]
      readonly ports: readonly { readonly nodePort: number }[]
      readonly healthCheckNodePort: number
    }
    readonly subsets: readonly unknown[]
  }
}

type Send = (method: string, url: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

interface World extends AsyncDisposable {
  readonly env: VirtualWorld
  readonly store: Store
  /** One for each server; all share one store. To be run with `env.run`. */
  readonly servers: readonly Send[]
  readonly send: Send
  start(port?: number, ranges?: string): Promise<Send>
  /** The allocated node ports. */
  nodePorts(): Promise<string[]>
  addresses(): Promise<string[]>
}

async function createWorld(range: string, count = 1): Promise<World> {
  const env = new VirtualWorld()
  const store = createMemoryStore({ env })
  const group = new TaskGroup()
  const start = async (port = 6443, ranges = range): Promise<Send> => {
    const advertise = () => ({ address: '192.0.2.7', port })
    const server = createApiServer({
      env,
      store,
      network: { serviceClusterIpRange: ranges, advertise },
    })
    group.spawn(signal => server.run(signal))
    await env.run(server.ready)
    const transport = createInProcessTransport(server.handler, env, { peer: admin })
    return async (method, url, body, headers = {}) => {
      const [path = '', query = ''] = url.split('?')
      const answer = await transport.send({
        method,
        path,
        query,
        headers: { 'content-type': 'application/json', ...headers },
        signal: group.signal,
        ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
      })
      const text = new TextDecoder().decode(answer.body as Uint8Array)
      return { status: answer.status, body: JSON.parse(text) as Answer['body'] }
    }
  }
  const servers: Send[] = []
  for (let i = 0; i < count; i++) servers.push(await start())
  const keysUnder = async (prefix: string) => {
    const { items } = await env.run(store.range(prefix))
    return items.map(({ key }) => key.slice(prefix.length))
  }
  return {
    env,
    store,
    servers,
    send: (...request) => env.run(servers[0]!(...request)),
    async start(port, ranges) {
      const send = await start(port, ranges)
      return (...request) => env.run(send(...request))
    },
    nodePorts: () => keysUnder('/ranges/servicenodeports/'),
    addresses: () => keysUnder('/networking.k8s.io/ipaddresses/'),
    async [Symbol.asyncDispose]() {
      group.abort()
      await env.run(group.join())
      await env.run(store.close())
    },
  }
}

const service = (name: string, spec: Record<string, unknown> = {}) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
})
const mergePatch = { 'content-type': 'application/merge-patch+json' }

describe('a service', () => {
  it('gets an address with an IPAddress, and releases both with its Endpoints when deleted', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const created = await world.send('POST', services, service('a'))
    const { clusterIP } = created.body.spec
    assert.match(clusterIP, /^10\.0\./)
    assert.equal((await world.send('GET', `${addresses}/${clusterIP}`)).status, 200)
    await world.send('POST', '/api/v1/namespaces/default/endpoints', { metadata: { name: 'a' } })
    const deleted = await world.send('DELETE', `${services}/a`)
    assert.equal(deleted.body.spec.clusterIP, clusterIP)
    assert.equal((await world.send('GET', `${addresses}/${clusterIP}`)).status, 404)
    assert.equal((await world.send('GET', '/api/v1/namespaces/default/endpoints/a')).status, 404)
  })

  it('releases its address with its last finalizer', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const held = { ...service('a'), metadata: { name: 'a', finalizers: ['example.com/hold'] } }
    const { clusterIP } = (await world.send('POST', services, held)).body.spec
    await world.send('DELETE', `${services}/a`)
    assert.ok((await world.addresses()).includes(clusterIP))
    await world.send('PATCH', `${services}/a`, { metadata: { finalizers: null } }, mergePatch)
    assert.ok(!(await world.addresses()).includes(clusterIP))
  })

  it('allocates nothing when it is rejected, exists already or is a dry run', async () => {
    await using world = await createWorld('10.0.0.0/16')
    await world.send('POST', services, service('a', { type: 'NodePort' }))
    const before = [await world.addresses(), await world.nodePorts()]
    const bad = await world.send('POST', services, service('b', { type: 'NodePort', sessionAffinity: 'x' }))
    assert.equal(bad.status, 422)
    const twice = await world.send('POST', services, service('a', { type: 'NodePort' }))
    assert.equal(twice.status, 409)
    const dry = await world.send('POST', `${services}?dryRun=All`, service('c', { type: 'NodePort' }))
    assert.equal(dry.status, 201)
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
    const dryChange = await world.send('PATCH', `${services}/a?dryRun=All`, { spec: local }, mergePatch)
    assert.equal(dryChange.status, 200)
    assert.deepEqual([await world.addresses(), await world.nodePorts()], before)
  })

  it('releases node ports when its type needs none, and its address when it becomes an ExternalName', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
    const created = await world.send('POST', services, service('a', local))
    const { ports, healthCheckNodePort, clusterIP } = created.body.spec
    const taken = [String(ports[0]!.nodePort), String(healthCheckNodePort)].sort()
    assert.deepEqual(await world.nodePorts(), taken)
    await world.send('PATCH', `${services}/a`, { spec: { type: 'ClusterIP' } }, mergePatch)
    assert.deepEqual(await world.nodePorts(), [])
    assert.ok((await world.addresses()).includes(clusterIP))
    const alias = { spec: { type: 'ExternalName', externalName: 'example.com' } }
    const changed = await world.send('PATCH', `${services}/a`, alias, mergePatch)
    assert.equal(changed.status, 200, changed.body.message)
    assert.equal(changed.body.spec.clusterIP, undefined)
    assert.ok(!(await world.addresses()).includes(clusterIP))
  })

  it('keeps address and node port when its manifest is applied again', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const manifest = service('a', { type: 'NodePort' })
    const { spec } = (await world.send('POST', services, manifest)).body
    const again = await world.send('PUT', `${services}/a`, manifest)
    assert.deepEqual(again.body.spec, spec)
  })

  it('cannot have an address or node port that is allocated or out of range', async () => {
    await using world = await createWorld('10.0.0.0/24')
    const first = service('a', {
      type: 'NodePort',
      clusterIP: '10.0.0.9',
      ports: [{ port: 80, nodePort: 30_001 }],
    })
    assert.equal((await world.send('POST', services, first)).status, 201)
    const sameIP = await world.send('POST', services, service('b', { clusterIP: '10.0.0.9' }))
    assert.match(sameIP.body.message, /provided IP is already allocated$/)
    const ports = [{ port: 80, nodePort: 30_001 }]
    const samePort = await world.send('POST', services, service('b', { type: 'NodePort', ports }))
    assert.match(samePort.body.message, /provided port is already allocated$/)
    const outside = await world.send('POST', services, service('b', { clusterIP: '10.1.0.9' }))
    assert.match(outside.body.message, /does not match the current range$/)
  })

  it('is rejected when the range is exhausted, and gets an address once one is free', async () => {
    await using world = await createWorld('10.0.0.0/29')
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      assert.equal((await world.send('POST', services, service(name))).status, 201)
    const full = await world.send('POST', services, service('f'))
    assert.equal(full.status, 500)
    assert.match(full.body.message, /range is full$/)
    await world.send('DELETE', `${services}/c`)
    assert.equal((await world.send('POST', services, service('f'))).status, 201)
  })
})

describe('servers that share a store', () => {
  it('give every service its own address and node port', async () => {
    await using world = await createWorld('10.0.0.0/25', 2)
    const names = Array.from({ length: 100 }, (_, index) => `s${index}`)
    const answers = await world.env.run(
      Promise.all(
        names.map((name, index) =>
          world.servers[index % 2]!('POST', services, service(name, { type: 'NodePort' })),
        ),
      ),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
    assert.equal(new Set(answers.map(({ body }) => body.spec.clusterIP)).size, names.length)
    assert.equal(new Set(answers.map(({ body }) => body.spec.ports[0]!.nodePort)).size, names.length)
    assert.equal((await world.nodePorts()).length, names.length)
  })

  it('allocate a node port that several request to one of them', async () => {
    await using world = await createWorld('10.0.0.0/24', 2)
    const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_007 }] }
    const answers = await world.env.run(
      Promise.all(
        [0, 1, 2, 3].map(index => world.servers[index % 2]!('POST', services, service(`s${index}`, spec))),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422])
  })
})

describe('the service kubernetes', () => {
  it('exists from the start on the first address of the range, and its endpoints follow the server', async () => {
    await using world = await createWorld('10.0.0.0/16')
    assert.equal((await world.send('GET', `${services}/kubernetes`)).body.spec.clusterIP, '10.0.0.1')
    assert.deepEqual(await world.addresses(), ['10.0.0.1'])
    const restarted = await world.start(7443)
    const { subsets } = (await restarted('GET', '/api/v1/namespaces/default/endpoints/kubernetes')).body
    const ports = [{ name: 'https', port: 7443, protocol: 'TCP' }]
    assert.deepEqual(subsets, [{ addresses: [{ ip: '192.0.2.7' }], ports }])
  })
})

describe('the service kubernetes after its deletion', () => {
  it('is recreated with its address and its endpoints', async () => {
    await using world = await createWorld('10.0.0.0/16')
    assert.equal((await world.send('DELETE', services)).status, 200)
    await world.env.settle()
    assert.equal((await world.send('GET', `${services}/kubernetes`)).body.spec.clusterIP, '10.0.0.1')
    assert.deepEqual(await world.addresses(), ['10.0.0.1'])
    assert.equal((await world.send('GET', '/api/v1/namespaces/default/endpoints/kubernetes')).status, 200)
  })
})

describe('a dual-stack cluster', () => {
  it('gives a service an address of each family, and releases or allocates the second as its policy changes', async () => {
    await using world = await createWorld('10.0.0.0/16,fd00::/112')
    const spec = service('a', { ipFamilyPolicy: 'PreferDualStack' })
    const { clusterIPs } = (await world.send('POST', services, spec)).body.spec
    assert.match(clusterIPs.join(' '), /^10\.0\.\S+ fd00::\S+$/)
    const single = { spec: { ipFamilyPolicy: 'SingleStack' } }
    const reduced = await world.send('PATCH', `${services}/a`, single, mergePatch)
    assert.deepEqual(reduced.body.spec.clusterIPs, clusterIPs.slice(0, 1), reduced.body.message)
    assert.ok(!(await world.addresses()).includes(clusterIPs[1]!))
    const both = { spec: { ipFamilyPolicy: 'RequireDualStack' } }
    const extended = await world.send('PATCH', `${services}/a`, both, mergePatch)
    assert.equal(extended.body.spec.clusterIPs.length, 2, extended.body.message)
    assert.ok((await world.addresses()).includes(extended.body.spec.clusterIPs[1]!))
  })
})

describe('a cluster that becomes dual-stack', () => {
  it('gives services addresses of the second family from then on', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const spec = (name: string) => service(name, { ipFamilyPolicy: 'PreferDualStack' })
    assert.equal((await world.send('POST', services, spec('a'))).body.spec.clusterIPs.length, 1)
    const send = await world.start(6443, '10.0.0.0/16,fd00::/112')
    assert.equal((await send('POST', services, spec('b'))).body.spec.clusterIPs.length, 2)
  })
})

describe('an address of a service', () => {
  it('stays allocated when its IPAddress is deleted', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const { clusterIP } = (await world.send('POST', services, service('a'))).body.spec
    await world.send('DELETE', `${addresses}/${clusterIP}`)
    await world.env.settle()
    assert.equal((await world.send('GET', `${addresses}/${clusterIP}`)).status, 200)
  })
})

describe('an ingress without a class', () => {
  it('gets the newest default class', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'
    const ingress = (name: string) => ({
      metadata: { name },
      spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
    })
    const classOf = async (name: string) => {
      const { spec } = (await world.send('POST', ingresses, ingress(name))).body
      return (spec as unknown as { ingressClassName?: string }).ingressClassName
    }
    assert.equal(await classOf('a'), undefined)
    for (const name of ['old', 'new']) {
      const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
      const body = { metadata: { name, annotations }, spec: { controller: 'example.com/c' } }
      await world.send('POST', '/apis/networking.k8s.io/v1/ingressclasses', body)
      await world.env.advance(2_000)
    }
    assert.equal(await classOf('b'), 'new')
  })
})

describe('a start', () => {
  it('makes IPAddresses and node ports match the existing services', async () => {
    await using world = await createWorld('10.0.0.0/16')
    const { spec } = (await world.send('POST', services, service('a', { type: 'NodePort' }))).body
    const address = `/networking.k8s.io/ipaddresses/${spec.clusterIP}`
    const port = `/ranges/servicenodeports/${spec.ports[0]!.nodePort}`
    const { kv } = await world.env.run(world.store.get(address))
    const operations = [
      { type: 'delete' as const, key: address },
      { type: 'put' as const, key: '/networking.k8s.io/ipaddresses/10.0.77.77', value: kv!.value },
      { type: 'delete' as const, key: port },
    ]
    await world.env.run(world.store.transact({ operations }))
    await world.start()
    assert.deepEqual(await world.addresses(), ['10.0.0.1', spec.clusterIP])
    assert.deepEqual(await world.nodePorts(), [String(spec.ports[0]!.nodePort)])
  })
})
