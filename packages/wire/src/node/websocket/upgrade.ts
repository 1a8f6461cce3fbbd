import type { Duplex } from 'node:stream'
import { encodeText, type Logger, silentLogger } from '@coxswain/kit'
import { discardBody, isStream } from '../../body.ts'
import { describeRequest } from '../../describe-request.ts'
import { getHeader, getHeaderValues, splitHeaderList } from '../../headers.ts'
import type { Conversation, Handler, WireHeaders, WireRequest, WireResponse } from '../../message.ts'
import { closePayload, encodeFrame, FrameReader, opcodes } from '../../websocket/frames.ts'
import { builtin } from '../builtin-modules.ts'
import type { ServeOptions } from '../server/serve.ts'
import { acceptHandshake, isProtocol } from './handshake.ts'
import { openByteChannel, openMessageChannel } from './server-channel.ts'

/** Options of {@link createWebSocketUpgrade}. */
export interface WebSocketOptions {
  /** The same handler as for ordinary requests. */
  readonly handler: Handler
  /** Milliseconds after which a client that does not read is disconnected. @default 60000 */
  readonly stallTimeout?: number
  /** @default no logs */
  readonly log?: Logger
}

const defaultStallTimeout = 60_000
const newline = 0x0a

/**
 * Serves streams over WebSocket: the handler answers an upgrade request like any other, and each chunk of a stream
 * becomes a frame, a text frame where the content is JSON. Other responses, errors among them, are sent as plain
 * HTTP, as are responses to other upgrades.
 *
 *   GET ...?watch=1, Upgrade: websocket -> handler -> 200 and a stream -> 101, a frame per event, close
 *                                                  -> anything else    -> the response, close
 */
export function createWebSocketUpgrade(options: WebSocketOptions): NonNullable<ServeOptions['upgrade']> {
  const { handler, stallTimeout = defaultStallTimeout, log = silentLogger } = options
  const answer = async (request: WireRequest, socket: Duplex, head: Uint8Array) => {
    const response = await handler(request)
    const { body, conversation } = response
    if (conversation?.raw) {
      socket.write(formatHead(response.status, response.headers))
      await openByteChannel(socket, head, '', conversation.talk)
      return
    }
    if (conversation) {
      await converse(request, socket, head, response.headers, conversation)
      return
    }
    const wantsWebSocket = /^websocket$/i.test(getHeader(request.headers, 'upgrade') ?? '')
    if (!isStream(body) || response.status !== 200 || !wantsWebSocket) {
      if (!isStream(body)) sendPlain(socket, response)
      else if (response.status !== 200) await sendStream(socket, response, body, stallTimeout)
      else {
        sendPlain(socket, { status: 400, headers: {} })
        await discardBody(body)
      }
      return
    }
    const handshake = acceptHandshake(request.headers)
    if (handshake.status !== 101) {
      sendPlain(socket, handshake)
      await discardBody(body)
      return
    }
    socket.write(formatHead(101, { ...ownHeaders(response.headers), ...handshake.headers }))
    listen(socket, head)
    await sendFrames(socket, response, body, stallTimeout)
  }
  return (request, socket, head) => {
    socket.on('error', () => {}) // the peer reset the connection; 'close' follows
    answer(request, socket, head).catch(error => {
      if (!request.signal.aborted) log.error('websocket aborted', { error, ...describeRequest(request) })
      socket.destroy()
    })
    return true
  }
}

/** WebSocket messages, or, for SPDY, the bytes of the connection. */
async function converse(
  request: WireRequest,
  socket: Duplex,
  head: Uint8Array,
  own: WireHeaders,
  { protocols, talk }: Conversation,
): Promise<void> {
  const isSpdy = /^spdy\/3\.1$/i.test(getHeader(request.headers, 'upgrade') ?? '')
  const header = isSpdy ? 'x-stream-protocol-version' : 'sec-websocket-protocol'
  const offered = getHeaderValues(request.headers, header).flatMap(splitHeaderList).filter(isProtocol)
  const protocol = offered.find(name => protocols.includes(name)) ?? ''
  if (protocol === '' && offered.length > 0) {
    const text = `unable to upgrade: unable to negotiate protocol: client supports ${JSON.stringify(offered)}, server accepts ${JSON.stringify(protocols)}`
    sendPlain(socket, { status: 403, headers: {}, body: encodeText(text) })
    return
  }
  if (isSpdy) {
    const answer = { upgrade: 'SPDY/3.1', connection: 'Upgrade', 'x-stream-protocol-version': protocol }
    socket.write(formatHead(101, { ...ownHeaders(own), ...answer }))
    await openByteChannel(socket, head, protocol, talk)
    return
  }
  const chosen = { ...request.headers, origin: 'any', 'sec-websocket-protocol': protocol }
  const handshake = acceptHandshake(chosen)
  if (handshake.status !== 101) {
    sendPlain(socket, handshake)
    return
  }
  socket.write(formatHead(101, { ...ownHeaders(own), ...handshake.headers }))
  await openMessageChannel(socket, head, protocol, talk)
}

/** The handler's headers that are not about the content. */
function ownHeaders(headers: WireHeaders): WireHeaders {
  const { 'content-type': _type, 'content-length': _length, ...rest } = headers
  return rest
}

/** Answers pings and closes; discards other frames of the client. */
function listen(socket: Duplex, head: Uint8Array): void {
  const reader = new FrameReader(
    {
      onControl(opcode, payload) {
        if (opcode === opcodes.ping) socket.write(encodeFrame(opcodes.pong, payload))
        else if (opcode === opcodes.close) close(socket, payload.length < 2 ? closePayload(1000) : payload)
      },
      onError: () => close(socket, closePayload(1002)),
    },
    { from: 'client' },
  )
  socket.on('data', (chunk: Uint8Array) => reader.push(chunk))
  socket.on('end', () => socket.end())
  if (head.length > 0) reader.push(head)
}

function close(socket: Duplex, payload: Uint8Array): void {
  if (!socket.writableEnded) socket.end(encodeFrame(opcodes.close, payload))
  socket.once('finish', () => socket.destroy())
}

async function sendFrames(
  socket: Duplex,
  response: WireResponse,
  body: AsyncIterable<Uint8Array>,
  stallTimeout: number,
): Promise<void> {
  const isText = getHeader(response.headers, 'content-type')?.startsWith('application/json')
  const opcode = isText ? opcodes.text : opcodes.binary
  for await (const chunk of body) {
    if (socket.destroyed || socket.writableEnded) return
    const payload = isText && chunk.at(-1) === newline ? chunk.subarray(0, -1) : chunk
    if (!socket.write(encodeFrame(opcode, payload)) && !(await hasRoom(socket, stallTimeout))) return
  }
  close(socket, closePayload(1000))
}

/** Resolves when the client has read, with whether it is still connected. */
function hasRoom(socket: Duplex, stallTimeout: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(() => socket.destroy(), stallTimeout)
    const done = () => {
      clearTimeout(timer)
      socket.off('drain', done).off('close', done)
      resolve(!socket.destroyed)
    }
    socket.on('drain', done).on('close', done)
  })
}

/** An ordinary response that ends with the connection, unless it has a length. */
async function sendStream(
  socket: Duplex,
  { status, headers }: WireResponse,
  body: AsyncIterable<Uint8Array>,
  stallTimeout: number,
): Promise<void> {
  socket.write(formatHead(status, { ...headers, connection: 'close' }))
  socket.resume()
  for await (const chunk of body) {
    if (socket.destroyed) return
    if (!socket.write(chunk) && !(await hasRoom(socket, stallTimeout))) return
  }
  socket.end()
}

/** An ordinary response on a connection that is closed after it. */
function sendPlain(socket: Duplex, { status, headers, body }: WireResponse): void {
  const content = !body || isStream(body) ? [] : body instanceof Uint8Array ? [body] : body
  const length = content.reduce((sum, piece) => sum + piece.length, 0)
  const end = body ? { 'content-length': String(length) } : {}
  socket.write(formatHead(status, { ...headers, ...end, connection: 'close' }))
  for (const piece of content) socket.write(piece)
  socket.end()
  socket.resume()
}

function formatHead(status: number, headers: WireHeaders): string {
  let head = `HTTP/1.1 ${status} ${builtin.http.STATUS_CODES[status] ?? ''}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    for (const line of typeof value === 'string' ? [value] : value) {
      head += `${name}: ${line.replace(/[\r\n]/g, ' ')}\r\n`
    }
  }
  return `${head}\r\n`
}
