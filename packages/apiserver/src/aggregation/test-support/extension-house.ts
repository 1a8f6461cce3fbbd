import { encodeBase64Text, encodeText, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import {
  type ByteStream,
  createInProcessTransport,
  type Handler,
  readBody,
  TransportError,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import type { Dialer } from '../../nodes/dialer.ts'
import type { Target } from '../../outbound/outbound.ts'
import { createApiServer } from '../../server.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

// biome-ignore lint/suspicious/noExplicitAny: responses of all kinds, whose members tests name
export type Answered = any

export interface Reply {
  readonly status: number
  readonly headers: WireResponse['headers']
  readonly text: string
  readonly json: Answered
}

/** A server behind which the test's extension API servers stand. */
export interface ExtensionHouse extends AsyncDisposable {
  readonly world: VirtualWorld
  /** The targets that were connected to, in order. */
  readonly targets: readonly Target[]
  /** The response, once everything that it triggered has happened. */
  send(method: string, url: string, more?: Partial<WireRequest>): Promise<Reply>
  /** As `send`, without reading the body. */
  raw(method: string, url: string, more?: Partial<WireRequest>): Promise<WireResponse>
  /** As `raw`, without running the world: for requests that wait. */
  start(method: string, url: string, more?: Partial<WireRequest>): Promise<WireResponse>
  write(method: string, url: string, object: object): Promise<Reply>
  /** A Service with an EndpointSlice that leads to `address`, and an APIService that leads to it. */
  register(service: Registered): Promise<void>
  /** The condition of an APIService, as `STATUS REASON: MESSAGE`. */
  availability(name: string): Promise<string>
}

export interface Registered {
  readonly group: string
  readonly version?: string
  /** `ADDRESS:PORT`. @default 10.1.1.1:8443 */
  readonly address?: string
  readonly spec?: object
}

export interface ExtensionHouseOptions {
  /** Extension API servers by `host:port`. */
  readonly servers?: Readonly<Record<string, Handler>>
  /** What is dialled for upgrades, by `host:port`. */
  readonly dials?: Readonly<Record<string, () => Promise<ByteStream>>>
  /** Whether `metrics.k8s.io` is built in. @default false */
  readonly resourceMetrics?: boolean
}

export const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'

export async function openExtensionHouse(options: ExtensionHouseOptions = {}): Promise<ExtensionHouse> {
  const world = new VirtualWorld({ seed: 11 })
  const store = createMemoryStore({ env: world })
  const targets: Target[] = []
  const outbound = {
    connect(target: Target) {
      targets.push(target)
      const handler = options.servers?.[new URL(target.origin).host]
      if (handler) return createInProcessTransport(handler, world)
      return { send: refuse, async [Symbol.asyncDispose]() {} }
    },
  }
  const dialer: Dialer = {
    lookup: async host => [host],
    connect: (host, port) => options.dials?.[`${host}:${port}`]?.() ?? refuse(),
    secure: async stream => stream,
  }
  const proxyClient = () => ({ cert: 'front-proxy-client', key: 'its key' })
  const server = createApiServer({
    env: world,
    store,
    outbound,
    nodes: { dialer, resourceMetrics: options.resourceMetrics === true },
    aggregation: { proxyClient },
  })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const start = (method: string, url: string, more: Partial<WireRequest> = {}) => {
    const [path = '', query = ''] = url.split('?')
    const { signal } = group
    const message = { method, path, query, peer: admin, signal, remoteAddress: '192.0.2.9', ...more }
    return server.handler({ ...message, headers: more.headers ?? {} })
  }
  const raw = (...request: Parameters<typeof start>) => world.run(start(...request))
  const send = async (method: string, url: string, more?: Partial<WireRequest>): Promise<Reply> => {
    const { status, headers, body } = await raw(method, url, more)
    const text = new TextDecoder().decode(await world.run(readBody(body)))
    await world.settle()
    return { status, headers, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
  const write = async (method: string, url: string, object: object) => {
    const reply = await send(method, url, {
      body: encodeText(JSON.stringify(object)),
      headers: { 'content-type': 'application/json' },
    })
    if (reply.status >= 300) throw new Error(reply.text)
    return reply
  }
  return {
    world,
    targets,
    start,
    raw,
    send,
    write,
    async register({ group: name, version = 'v1', address = '10.1.1.1:8443', spec = {} }) {
      const service = name.replaceAll('.', '-')
      const [ip, port] = address.split(':')
      await write('POST', '/api/v1/namespaces/default/services', {
        metadata: { name: service },
        spec: { ports: [{ name: 'https', port: 443 }] },
      })
      await write('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
        metadata: { name: service, labels: { 'kubernetes.io/service-name': service } },
        addressType: 'IPv4',
        ports: [{ name: 'https', port: Number(port) }],
        endpoints: [{ addresses: [ip] }],
      })
      await write('POST', apiServices, {
        metadata: { name: `${version}.${name}` },
        spec: {
          group: name,
          version,
          service: { namespace: 'default', name: service },
          caBundle: encodeBase64Text('the CA'),
          groupPriorityMinimum: 1500,
          versionPriority: 15,
          ...spec,
        },
      })
      await world.settle()
    },
    async availability(name) {
      const { json } = await send('GET', `${apiServices}/${name}`)
      const { status, reason, message } = json.status?.conditions?.[0] ?? {}
      return `${status} ${reason}: ${message}`
    },
    async [Symbol.asyncDispose]() {
      group.abort()
      await group.join().catch(() => {})
      await store.close()
    },
  }
}

function refuse(): Promise<never> {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  return Promise.reject(new TransportError('ConnectFailed', 'refused', { cause, sent: false }))
}
