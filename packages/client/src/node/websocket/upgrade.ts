import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  getHeader,
  type Transport,
  TransportError,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from '@coxswain/wire'
import { acceptKey, type ClientTls, connect } from '@coxswain/wire/node/client'
import type { MessageChannel, UpgradingTransport } from '../../streams/message-channel.ts'
import { SocketChannel } from './socket-channel.ts'

/** Options of {@link withUpgrade}. */
export interface UpgradeOptions {
  readonly server: string
  readonly tls?: ClientTls | (() => Promise<ClientTls>)
  readonly proxy?: string
}

/** The timeout of the handshake. */
const handshakeTimeout = 30_000
/** How much of an error answer is read. */
const maxRefusalBytes = 1024 * 1024

/** Adds upgrades to a transport; each has a connection of its own, to the same server with the same credentials. */
export function withUpgrade(transport: Transport, options: UpgradeOptions): UpgradingTransport {
  return {
    send: request => transport.send(request),
    upgrade: (request, protocols) => upgrade(request, protocols, options),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

async function upgrade(
  request: WireRequest,
  protocols: readonly string[],
  options: UpgradeOptions,
): Promise<MessageChannel | WireResponse> {
  request.signal.throwIfAborted()
  const server = new URL(options.server)
  const tls = typeof options.tls === 'function' ? await options.tls() : (options.tls ?? {})
  const proxy = options.proxy === undefined ? {} : { proxy: new URL(options.proxy) }
  const socket = await connect({ server, tls, timeout: handshakeTimeout, ...proxy }, ['http/1.1'])
  if (request.signal.aborted) {
    socket.destroy()
    throw request.signal.reason
  }
  const key = process.getBuiltinModule('node:crypto').randomBytes(16).toString('base64')
  const prefix = server.pathname.replace(/\/+$/, '')
  // An `import` would also load undici.
  const message = process.getBuiltinModule('node:http').request({
    createConnection: () => socket,
    method: request.method,
    path: `${prefix}${request.path}${request.query === '' ? '' : `?${request.query}`}`,
    headers: {
      ...plainHeaders(request.headers),
      host: server.host,
      origin: server.origin,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-protocol': protocols.join(', '),
    },
  })
  const onAbort = (): void => void socket.destroy()
  request.signal.addEventListener('abort', onAbort, { once: true })
  socket.once('close', () => request.signal.removeEventListener('abort', onAbort))
  socket.setTimeout(handshakeTimeout, () => socket.destroy())
  try {
    const answer = await answerTo(message)
    socket.setTimeout(0)
    if (!('socket' in answer)) return answer
    return accept(answer, key, protocols)
  } catch (cause) {
    socket.destroy()
    if (request.signal.aborted) throw request.signal.reason
    if (cause instanceof TransportError) throw cause
    throw new TransportError('ConnectionLost', `no answer to the upgrade: ${(cause as Error).message}`, {
      cause,
    })
  }
}

interface Upgraded {
  readonly headers: WireHeaders
  readonly socket: Duplex
  readonly head: Uint8Array
}

function answerTo(message: ClientRequest): Promise<Upgraded | WireResponse> {
  return new Promise((resolve, reject) => {
    message.on('error', reject)
    message.on('upgrade', (response, socket, head) =>
      resolve({ headers: response.headers as WireHeaders, socket, head }),
    )
    message.on('response', response => readRefusal(response).then(resolve, reject))
    message.end()
  })
}

async function readRefusal(response: IncomingMessage): Promise<WireResponse> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length <= maxRefusalBytes) chunks.push(chunk)
  }
  response.socket.destroy()
  return {
    status: response.statusCode ?? 500,
    headers: response.headers as WireHeaders,
    body: Buffer.concat(chunks),
  }
}

function accept(
  { headers, socket, head }: Upgraded,
  key: string,
  protocols: readonly string[],
): MessageChannel {
  const expected = acceptKey(key)
  const protocol = getHeader(headers, 'sec-websocket-protocol') ?? ''
  if (getHeader(headers, 'sec-websocket-accept') !== expected || !protocols.includes(protocol)) {
    socket.destroy()
    throw new TransportError('BadMessage', `the server speaks none of ${protocols.join(', ')}`)
  }
  return new SocketChannel(socket, protocol, head)
}

function plainHeaders(headers: WireHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !name.startsWith(':'))
      .map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )
}
