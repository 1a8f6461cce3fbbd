/** Extension API servers that behave badly, each in its own way, on ports of this machine. */
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { createRealEnv } from '@coxswain/kit'
import { createCertificate, type KeyPair } from '@coxswain/wire/node'

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** How a server answers; each is the group `NAME.agg.example`. */
export const behaviours = [
  'ok',
  'legacy',
  'hang',
  'hangs-late',
  'status500',
  'notfound',
  'garbage',
  'half',
  'redirect',
  'other-group',
  'wrong-types',
  'wrong-ca',
  'expired',
  'wrong-name',
  'plain-http',
  'down',
] as const

export type Behaviour = (typeof behaviours)[number]

export const groupOf = (name: string): string => `${name}.agg.example`

/** What a server was sent, without what differs from run to run. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: number
}

export interface FakeExtension extends AsyncDisposable {
  readonly behaviour: Behaviour
  readonly port: number
  /** PEM. */
  readonly ca: string
  /** Requests for resources, in order. */
  readonly received: Received[]
  stop(): Promise<void>
  start(): Promise<void>
}

const env = createRealEnv()
const day = 24 * 3_600_000

function issue(name: string, behaviour: Behaviour): { readonly ca: KeyPair; readonly pair: KeyPair } {
  const now = Date.now()
  const times = { notBefore: now - 10 * day, notAfter: now + 10 * day }
  const ca = createCertificate(
    { subject: { commonName: `ca-${env.random.uuid()}` }, usages: ['ca'], ...times },
    env.random,
  )
  const pair = createCertificate(
    {
      subject: { commonName: name },
      usages: ['server'],
      hosts: [behaviour === 'wrong-name' ? 'other.example' : `${name}.aggregation.svc`],
      ...times,
      ...(behaviour === 'expired' && { notAfter: now - day }),
    },
    env.random,
    ca,
  )
  return { ca, pair }
}

export async function startFakeExtension(behaviour: Behaviour): Promise<FakeExtension> {
  const { ca, pair } = issue(behaviour, behaviour)
  const shown = behaviour === 'wrong-ca' ? issue(behaviour, behaviour).ca : ca
  const received: Received[] = []
  const sockets = new Set<Duplex>()
  let server: Server
  let port = 0
  const start = async () => {
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      void handle(behaviour, request, response, received)
    const made =
      behaviour === 'plain-http'
        ? createPlainServer(answer)
        : createServer({ cert: pair.certificate, key: pair.key }, answer)
    made.on('upgrade', (request: IncomingMessage, socket: Duplex) => upgrade(request, socket))
    made.on('connection', socket => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    server = made
    await new Promise<void>(resolve => made.listen(port, '127.0.0.1', resolve))
    port = (made.address() as AddressInfo).port
  }
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>(resolve => {
      if (server.listening) server.close(() => resolve())
      else resolve()
    })
  }
  await start()
  if (behaviour === 'down') await stop()
  return {
    behaviour,
    port,
    ca: shown.certificate,
    received,
    stop,
    start,
    [Symbol.asyncDispose]: stop,
  }
}

const widget = (kind: string) => ({
  resource: 'widgets',
  responseKind: { group: '', version: '', kind },
  scope: 'Namespaced',
  singularResource: 'widget',
  verbs: ['create', 'delete', 'get', 'list', 'watch'],
  shortNames: ['wd'],
})

function discoveryOf(group: string, resources: unknown): string {
  const versions = [{ version: 'v1', resources, freshness: 'Current' }]
  return JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [{ metadata: { name: group }, versions }],
  })
}

async function handle(
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
  received: Received[],
): Promise<void> {
  const url = request.url ?? ''
  const group = groupOf(behaviour)
  const send = (status: number, type: string, text: string, headers: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(text)
  if (behaviour === 'hang') return
  if (behaviour === 'status500') return void send(500, 'text/plain', 'no')
  if (behaviour === 'notfound') return void send(404, 'text/plain', 'nowhere')
  if (behaviour === 'redirect')
    return void send(302, 'text/plain', '', { location: 'https://192.0.2.1/elsewhere' })
  if (url === `/apis/${group}/v1`)
    return void send(
      200,
      'application/json',
      JSON.stringify({
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: `${group}/v1`,
        resources: [
          {
            name: 'widgets',
            singularName: 'widget',
            namespaced: true,
            kind: 'Widget',
            verbs: ['get', 'list'],
          },
          { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get'] },
        ],
      }),
    )
  if (behaviour === 'hangs-late') return
  if (url === '/apis') {
    switch (behaviour) {
      case 'legacy':
        return void send(
          200,
          'application/json',
          JSON.stringify({ kind: 'APIGroupList', apiVersion: 'v1', groups: [] }),
        )
      case 'garbage':
        return void send(200, aggregatedType, 'this is not JSON')
      case 'half':
        response.writeHead(200, { 'content-type': aggregatedType, 'content-length': '5000' })
        response.write(discoveryOf(group, [widget('Widget')]).slice(0, 100), () => request.socket.destroy())
        return
      case 'other-group':
        return void send(200, aggregatedType, discoveryOf('unrelated.example', [widget('Widget')]))
      case 'wrong-types':
        return void send(200, aggregatedType, discoveryOf(group, 'many'))
      default:
        return void send(200, aggregatedType, discoveryOf(group, [widget('Widget')]))
    }
  }
  if (!url.includes('/widgets')) return void send(404, 'text/plain', 'nowhere')
  await handleResource(request, response, received)
}

/** Resources of the servers that can be reached: the name says what happens. */
async function handleResource(request: IncomingMessage, response: ServerResponse, received: Received[]) {
  const url = request.url ?? ''
  const method = request.method ?? ''
  const name = /\/widgets\/([^?/]*)/.exec(url)?.[1] ?? ''
  let body = 0
  if (name === 'refuse') {
    // Answers before the body has arrived.
    response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end('refused')
    return
  }
  for await (const chunk of request) body += (chunk as Buffer).length
  received.push({ method, url, headers: request.headers, body })
  const json = (status: number, value: unknown) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-own': 'kept', warning: '299 - "careful"' })
      .end(JSON.stringify(value))
  if (/[?&]watch=/.test(url)) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"type":"ADDED","object":{"n":1}}\n')
    return // the client ends it
  }
  switch (name) {
    case 'redirect':
      return void response.writeHead(301, { location: '/apis/apps/v1' }).end()
    case 'seeother':
      return void response.writeHead(303, { 'content-type': 'text/plain' }).end('without a location')
    case 'drop':
      return void request.socket.destroy()
    case 'teapot':
      return void response.writeHead(418, { 'content-type': 'text/plain' }).end('short and stout')
    case 'headers':
      return void json(200, { headers: request.headers })
    case 'cut':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"half":', () => setTimeout(() => request.socket.destroy(), 100))
      return
    default:
      return void json(method === 'POST' ? 201 : 200, { kind: 'Widget', method, url, body })
  }
}

/** Upgrades: `echo` returns what it is sent in upper case, others are refused. */
function upgrade(request: IncomingMessage, socket: Duplex): void {
  const name = /\/widgets\/([^?/]*)/.exec(request.url ?? '')?.[1] ?? ''
  socket.on('error', () => {})
  if (name === 'echo') {
    const protocol = request.headers.upgrade ?? ''
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`)
    socket.on('data', chunk => socket.write(String(chunk).toUpperCase()))
    return
  }
  if (name === 'forbidden') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
  if (name === 'moved')
    return void socket.end('HTTP/1.1 302 Found\r\nLocation: https://192.0.2.1/\r\nContent-Length: 0\r\n\r\n')
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')
}
