import { decodeText, encodeText, TaskGroup, VirtualWorld } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import {
  type ByteStream,
  type Handler,
  readBody,
  TransportError,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import type { ApiServerOptions } from '../../options.ts'
import { createApiServer } from '../../server.ts'
import type { Dialer } from '../dialer.ts'
import type { NodeConnection } from '../node-connection.ts'

const admin = { commonName: 'admin', organizations: ['system:masters'], notAfter: Number.MAX_SAFE_INTEGER }

export interface Reply {
  readonly status: number
  readonly headers: WireResponse['headers']
  readonly text: string
  readonly message: string
}

/** A server with a node of ours (`own`), a foreign one (`foreign`), and the backends of the test. */
export interface ProxyHouse extends AsyncDisposable {
  readonly handler: Handler
  send(method: string, target: string, more?: Partial<WireRequest>): Promise<Reply>
  /** As `send`, without reading the body. */
  raw(method: string, target: string, more?: Partial<WireRequest>): Promise<WireResponse>
  make(path: string, object: object): Promise<void>
  /** A running Pod, on a node and with an address. */
  makePod(
    name: string,
    place: { readonly node: string; readonly ip: string; readonly spec?: object },
  ): Promise<void>
  run<T>(work: Promise<T>): Promise<T>
}

export interface HouseOptions {
  /** Backends by `host:port`. */
  readonly addresses?: Readonly<Record<string, () => Promise<ByteStream>>>
  readonly names?: Readonly<Record<string, readonly string[]>>
  /** Backends on ports of Pods of our own node. */
  readonly dial?: NodeConnection['dial']
  readonly ask?: NodeConnection['ask']
  /** @default the server's own */
  readonly server?: Pick<ApiServerOptions, 'authentication'>
}

export async function openProxyHouse(options: HouseOptions = {}): Promise<ProxyHouse> {
  const world = new VirtualWorld({ seed: 7 })
  const store = createMemoryStore({ env: world })
  const refused = (): Promise<never> => Promise.reject(new Error('not asked'))
  const connection: NodeConnection = {
    hasNode: name => name === 'own',
    ask: options.ask ?? refused,
    dial: options.dial ?? refused,
    readLog: refused,
    exec: refused,
    attach: refused,
  }
  const dialer: Dialer = {
    lookup: async host => options.names?.[host] ?? [host],
    async connect(host, port) {
      const answer = options.addresses?.[`${host}:${port}`]
      if (answer) return await answer()
      const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      throw new TransportError('ConnectFailed', 'refused', { cause, sent: false })
    },
    secure: async stream => stream,
  }
  const server = createApiServer({ ...options.server, env: world, store, nodes: { connection, dialer } })
  const group = new TaskGroup()
  group.spawn(signal => server.run(signal))
  await world.run(server.ready)
  const raw = async (method: string, target: string, more: Partial<WireRequest> = {}) => {
    const [path = '', query = ''] = target.split('?')
    const headers = { host: 'api.example:6443', ...more.headers }
    return await server.handler({
      method,
      path,
      query,
      peer: admin,
      remoteAddress: '192.0.2.9',
      signal: group.signal,
      ...more,
      headers,
    })
  }
  const send = async (method: string, target: string, more: Partial<WireRequest> = {}) => {
    const read = async () => {
      const { status, headers, body } = await raw(method, target, more)
      return { status, headers, text: decodeText(await readBody(body)) }
    }
    const reply = await world.run(read())
    return { ...reply, message: reply.text.startsWith('{') ? String(JSON.parse(reply.text).message) : '' }
  }
  const write = async (method: string, path: string, object: object, type = 'application/json') => {
    const body = encodeText(JSON.stringify(object))
    const { status, text } = await send(method, path, { body, headers: { 'content-type': type } })
    if (status >= 300) throw new Error(text)
  }
  const make = async (path: string, object: object) => await write('POST', path, object)
  await make('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  for (const name of ['own', 'foreign']) {
    await make('/api/v1/nodes', {
      metadata: { name },
      status: { addresses: [{ type: 'InternalIP', address: name === 'own' ? '127.0.0.1' : '198.51.100.7' }] },
    })
  }
  return {
    handler: server.handler,
    send,
    raw,
    make,
    async makePod(name, { node, ip, spec = {} }) {
      const containers = [{ name: 'main', image: 'x', ports: [{ containerPort: 8080, name: 'web' }] }]
      const pods = '/api/v1/namespaces/default/pods'
      await make(pods, { metadata: { name }, spec: { containers, nodeName: node, ...spec } })
      const status = { podIP: ip, podIPs: [{ ip }], phase: 'Running' }
      await write('PATCH', `${pods}/${name}/status`, { status }, 'application/merge-patch+json')
    },
    run: async work => await world.run(work),
    async [Symbol.asyncDispose]() {
      group.abort()
      await world.run(group.join())
      await world.run(store.close())
    },
  }
}
