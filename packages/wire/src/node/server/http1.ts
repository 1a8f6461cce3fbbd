import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { discardBody, isStream, joinChunks } from '../../body.ts'
import type { WireResponse } from '../../message.ts'
import { StreamBody } from '../client/stream-body.ts'
import { bodyLength, type Sink, writePieces, writeStream } from './body-writer.ts'
import { frameChunk } from './chunk-frame.ts'
import { type BodySource, receiveBody } from './receive-body.ts'
import {
  type ConnectionInfo,
  clientGone,
  collectHeaders,
  parseTarget,
  type ReceivedBody,
  ReceivedRequest,
} from './received-request.ts'
import { noRoom, type ServerCore } from './server-core.ts'
import { TurnBatches } from './turn-batch.ts'

/** How long, and how many bytes of, an unwanted body are read, so that the client gets to read the response. */
const lingerMs = 2000
const lingerBytes = 256 * 1024

/** An HTTP/1.1 request in progress. */
interface Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** Sends the "100 Continue" that a client waits for; undefined when none does any more. */
  goOn: (() => void) | undefined
  /** Whether (part of) the body was not read. */
  isUnread: boolean
  /** The body, if it is passed through as a stream. */
  passed?: StreamBody
  /** Releases the body's memory; undefined once the request was answered. */
  release: (() => void) | undefined
}

function ignore(): void {}

/** An HTTP/1.1 request as Node hands it over. */
export interface IncomingExchange extends Pick<Exchange, 'message' | 'response'> {
  /** Whether the client waits for a "100 Continue" before it sends the body. */
  readonly expectsContinue: boolean
}

/** Answers one HTTP/1.1 request. */
export function answerHttp1(
  core: ServerCore,
  connection: ConnectionInfo,
  { message, response, expectsContinue }: IncomingExchange,
): void {
  const target = parseTarget(message.url ?? '')
  const headers = collectHeaders(message.rawHeaders)
  if (!target || !headers) {
    response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end('400 Bad Request')
    message.resume()
    return
  }
  const goOn = expectsContinue ? () => response.writeContinue() : undefined
  const exchange: Exchange = { message, response, goOn, isUnread: false, release: ignore }
  const begin = (body?: ReceivedBody) => {
    const request = new ReceivedRequest(message.method!, target, headers, connection, body)
    response.on('close', () => {
      if (!response.writableFinished) request.abort()
    })
    if (response.destroyed) request.abort()
    core.handle(connection, request, answer => {
      send(core, exchange, answer)
      exchange.release?.()
      exchange.release = undefined
    })
  }
  const declared = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (declared === undefined || declared === '0')) {
    begin()
    return
  }
  exchange.isUnread = true
  const receive = async (owner: string) => {
    const length = declared === undefined ? undefined : Number(declared)
    // A body that would be rejected is not read.
    if (!(length! > core.limits.bodyBytes)) sendOn(exchange)
    const { result, release } = await receiveBody(core, sourceOf(message, length), owner)
    if (exchange.release) exchange.release = release
    else release()
    exchange.isUnread = typeof result === 'string'
    return result
  }
  if (core.passesThrough(target.path)) {
    sendOn(exchange)
    exchange.passed = streamOf(message)
    begin(exchange.passed)
  } else if (core.defersBodies) {
    begin(owner => core.inTurn(connection, receive(owner)))
  } else {
    receive(connection.remoteAddress).then(
      result => (result === 'no room' ? send(core, exchange, noRoom) : begin(result)),
      () => {}, // the client has disconnected
    )
  }
}

function sendOn(exchange: Exchange): void {
  exchange.goOn?.()
  exchange.goOn = undefined
}

function sourceOf(message: IncomingMessage, declared: number | undefined): BodySource {
  return {
    stream: message,
    declared,
    isComplete: () => message.complete,
    cutOff: () => message.socket.destroy(),
  }
}

function streamOf(message: IncomingMessage): StreamBody {
  return new StreamBody({
    stream: message,
    cancel: () => message.pause(),
    truncated: () => (message.complete ? undefined : clientGone()),
    reason: clientGone,
  })
}

function send(core: ServerCore, exchange: Exchange, answer: WireResponse | undefined): void {
  const { message, response } = exchange
  const body = answer?.body
  if (response.destroyed || !response.writable) {
    core.settle(discardBody(body))
    return
  }
  if (!answer) {
    if (response.headersSent) {
      response.destroy()
      return
    }
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end('500 Internal Server Error')
    return
  }
  // A client that did not get "100 Continue" may still send its body, or the next request: the two cannot be distinguished.
  if (core.draining || exchange.goOn) response.shouldKeepAlive = false
  if (exchange.isUnread) lingerAfter(exchange)
  const { status, headers } = answer
  const silent = message.method === 'HEAD' || status === 204 || status === 304
  if (isStream(body)) {
    readByEvents(message.socket)
    response.writeHead(status, headers as Record<string, string | string[]>)
    response.flushHeaders()
    if (silent) {
      response.end()
      core.settle(discardBody(body))
    } else {
      core.settle(writeStream(createSink(response), body, core.stallOf(answer), core.onBodyError))
    }
    return
  }
  const length = body ? bodyLength(body) : 0
  if (length > message.socket.writableHighWaterMark) readByEvents(message.socket)
  response.writeHead(status, {
    ...(headers as Record<string, string | string[]>),
    ...(status !== 204 &&
      status !== 304 &&
      headers['content-length'] === undefined && { 'content-length': length }),
  })
  if (silent || !body || length === 0) response.end()
  else if (body instanceof Uint8Array) response.end(body)
  else if (length <= 32 * 1024) response.end(joinChunks(body))
  else core.settle(writePieces(new ResponseSink(response), body, core.stall))
}

const readingByEvents = new WeakSet<Socket>()

/**
 * Makes a TLS connection deliver its data through `data` events from now on. Node's HTTP parser reads connections directly, and
 * stops reading when a request arrives before the previous response is sent; TLS still hands it what is already
 * decrypted, and it treats that as an error ("Parse Error: Paused") and resets the connection.
 */
function readByEvents(socket: Socket): void {
  if (!('encrypted' in socket) || readingByEvents.has(socket)) return
  readingByEvents.add(socket)
  socket.on('data', () => {})
}

/**
 * Keeps reading for a while without keeping anything: a client that is still sending would otherwise get a reset and not
 * read the response. The connection continues if the body ends in time and within the limit, as in Go; a body that would have
 * been passed through may have any length.
 */
function lingerAfter({ message, response, passed }: Exchange): void {
  const { socket } = message
  response.on('finish', () => {
    if (message.complete) return
    void discardBody(passed)
    let left = passed ? Number.POSITIVE_INFINITY : lingerBytes
    const onData = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) message.pause()
    }
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    const stop = () => {
      clearTimeout(timer)
      message.off('data', onData).off('end', stop)
      socket.off('close', stop)
    }
    message.on('end', stop)
    socket.on('close', stop)
    message.on('data', onData)
    message.resume()
  })
}

/** A connection answers one request after the other, so its streams need not be kept apart from those of others. */
const batches = new TurnBatches()

/** A class, because an object literal with a getter has a slow shape of its own. */
class ResponseSink implements Sink {
  readonly batches: TurnBatches = batches
  protected readonly response: ServerResponse

  constructor(response: ServerResponse) {
    this.response = response
  }

  write(chunk: Uint8Array): boolean {
    return this.response.write(chunk)
  }

  onRoom(callback: () => void): void {
    onceEither(this.response, callback)
  }

  onClose(callback: () => void): void {
    this.response.on('close', callback)
  }

  end(): void {
    this.response.end()
  }

  destroy(): void {
    this.response.destroy()
  }

  get closed(): boolean {
    return this.response.destroyed
  }
}

/**
 * Chunked encoding written to the socket directly. A watch event goes to many clients as the same bytes, so its frame is
 * built once (PERFORMANCE: 106k events/s instead of 66k).
 */
class ChunkedSink extends ResponseSink {
  readonly #socket: Socket

  constructor(response: ServerResponse, socket: Socket) {
    super(response)
    this.#socket = socket
  }

  override write(chunk: Uint8Array): boolean {
    const frame = frameChunk(chunk)
    return frame ? this.#socket.write(frame) : super.write(chunk)
  }

  override onRoom(callback: () => void): void {
    if (this.#socket.writableNeedDrain) onceEither(this.#socket, callback)
    else if (this.response.writableNeedDrain) onceEither(this.response, callback)
    else callback()
  }

  override get closed(): boolean {
    return this.response.destroyed || this.#socket.destroyed
  }
}

/** A response that waits for an earlier one on its connection has no socket yet and is written the usual way. */
function createSink(response: ServerResponse): Sink {
  const { socket } = response
  return socket && response.chunkedEncoding ? new ChunkedSink(response, socket) : new ResponseSink(response)
}

interface Drainable {
  on(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
  readonly destroyed: boolean
}

/** Calls back on the next 'drain' or 'close', whichever comes first. */
export function onceEither(target: Drainable, callback: () => void): void {
  if (target.destroyed) {
    callback()
    return
  }
  const done = () => {
    target.off('drain', done)
    target.off('close', done)
    callback()
  }
  target.on('drain', done)
  target.on('close', done)
}
