import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { discardBody, isStream, joinChunks } from '../../body.ts'
import { TransportError } from '../../errors.ts'
import type { WireHeaders, WireResponse } from '../../message.ts'
import { StreamBody } from '../client/stream-body.ts'
import { bodyLength, type Sink, writePieces, writeStream } from './body-writer.ts'
import { EventsFirst, eventsFirstOf } from './events-first.ts'
import { onceEither } from './http1.ts'
import { type BodySource, receiveBody } from './receive-body.ts'
import {
  type ConnectionInfo,
  clientGone,
  parseTarget,
  type ReceivedBody,
  ReceivedRequest,
  separateHeaders,
} from './received-request.ts'
import { noRoom, type ServerCore } from './server-core.ts'
import type { TurnBatches } from './turn-batch.ts'

const { NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_CANCEL } = constants

/** Serves the streams of one HTTP/2 connection until it closes. */
export function serveSession(
  core: ServerCore,
  connection: ConnectionInfo,
  session: ServerHttp2Session,
): void {
  let open = 0
  const idle = { expire: () => session.close() }
  core.deadlines.set(idle, core.limits.idleTimeout)
  session.on('stream', (stream, headers, flags, raw) => {
    if (open++ === 0) core.deadlines.forget(idle)
    const exchange: Exchange = {
      stream,
      flags,
      raw: raw as unknown as readonly string[],
      isUnread: false,
      release: ignore,
    }
    stream.on('close', () => {
      if (--open === 0) core.deadlines.set(idle, core.limits.idleTimeout)
      // A stream that the client reset counts as finished too.
      if (stream.aborted || stream.rstCode !== NGHTTP2_NO_ERROR || !stream.writableFinished)
        exchange.request?.abort()
    })
    stream.on('error', ignore)
    answerHttp2(core, connection, exchange, headers)
  })
  session.on('error', ignore) // the connection failed, or the peer violated the protocol; 'close' follows
  session.on('close', () => core.deadlines.forget(idle))
}

function ignore(): void {}

interface Exchange {
  readonly stream: ServerHttp2Stream
  readonly flags: number
  readonly raw: readonly string[]
  /** Set once the handler was called. */
  request?: ReceivedRequest
  /** Whether (part of) the body was not read. */
  isUnread: boolean
  /** Releases the body's memory; undefined once the request was answered. */
  release: (() => void) | undefined
}

function answerHttp2(
  core: ServerCore,
  connection: ConnectionInfo,
  exchange: Exchange,
  headers: IncomingHttpHeaders,
): void {
  const { stream } = exchange
  const method = headers[':method'] as string
  const target = parseTarget((headers[':path'] as string | undefined) ?? '')
  if (!target) {
    stream.respond({ ':status': 400, 'content-type': 'text/plain; charset=utf-8' })
    stream.end('400 Bad Request')
    return
  }
  const begin = (body?: ReceivedBody) => {
    const received = separateHeaders(headers, exchange.raw)
    const request = new ReceivedRequest(method, target, received, connection, body)
    exchange.request = request
    if (stream.destroyed) request.abort()
    core.handle(connection, request, answer => {
      send(core, exchange, method, answer)
      exchange.release?.()
      exchange.release = undefined
    })
  }
  if (exchange.flags & NGHTTP2_FLAG_END_STREAM) {
    begin()
    return
  }
  exchange.isUnread = true
  const receive = async (owner: string) => {
    const { 'content-length': declared, expect } = headers
    const length = declared === undefined ? undefined : Number(declared)
    if (expect === '100-continue' && !(length! > core.limits.bodyBytes))
      stream.additionalHeaders({ ':status': 100 })
    const { result, release } = await receiveBody(core, sourceOf(stream, length), owner)
    if (exchange.release) exchange.release = release
    else release()
    exchange.isUnread = typeof result === 'string'
    return result
  }
  if (core.passesThrough(target.path)) begin(streamOf(stream))
  else if (core.defersBodies) begin(owner => core.inTurn(connection, receive(owner)))
  else {
    receive(connection.remoteAddress).then(
      result => (result === 'no room' ? send(core, exchange, method, noRoom) : begin(result)),
      () => {}, // the client has disconnected
    )
  }
}

function sourceOf(stream: ServerHttp2Stream, declared: number | undefined): BodySource {
  return {
    stream,
    declared,
    // A stream that was reset ends like a complete one.
    isComplete: () => !stream.aborted && stream.rstCode === NGHTTP2_NO_ERROR,
    cutOff: () => stream.close(NGHTTP2_CANCEL),
  }
}

function streamOf(stream: ServerHttp2Stream): StreamBody {
  return new StreamBody({
    stream,
    cancel: () => stream.pause(),
    truncated: () => (stream.aborted || stream.rstCode !== NGHTTP2_NO_ERROR ? clientGone() : undefined),
    reason: clientGone,
  })
}

function send(
  core: ServerCore,
  { stream, isUnread }: Exchange,
  method: string,
  answer: WireResponse | undefined,
): void {
  const body = answer?.body
  if (stream.destroyed || stream.closed) {
    core.settle(discardBody(body))
    return
  }
  if (!answer) {
    if (stream.headersSent) {
      stream.destroy(new TransportError('ConnectionLost', 'the response was aborted'))
      return
    }
    stream.respond({ ':status': 500, 'content-type': 'text/plain; charset=utf-8' })
    stream.end('500 Internal Server Error')
    return
  }
  // An unread body keeps the stream half open until it is closed explicitly. A response without a body finishes before its headers are
  // sent, which happens on the next turn; closing the stream earlier would discard them.
  if (isUnread) stream.on('finish', () => setImmediate(() => stream.close(NGHTTP2_NO_ERROR)))
  const { status } = answer
  // As in Go's server: a handler's `Connection: close` is a GOAWAY.
  if (answer.headers.connection === 'close') stream.session?.close()
  const headers = headersOf(status, answer.headers)
  const silent = method === 'HEAD' || status === 204 || status === 304
  if (isStream(body)) {
    stream.respond(headers, { endStream: silent })
    core.settle(
      silent
        ? discardBody(body)
        : writeStream(new StreamSink(stream), body, core.stallOf(answer), core.onBodyError),
    )
    return
  }
  const length = body ? bodyLength(body) : 0
  if (status !== 204 && status !== 304) headers['content-length'] ??= length
  if (silent || !body || length === 0) {
    stream.respond(headers, { endStream: true })
    return
  }
  const write = () => {
    if (stream.destroyed || stream.closed) return
    stream.respond(headers)
    if (body instanceof Uint8Array) stream.end(body)
    else if (length <= 32 * 1024) stream.end(joinChunks(body))
    else core.settle(writePieces(new StreamSink(stream), body, core.stall))
  }
  if (method === 'GET' || !stream.session) write()
  else eventsFirstOf(stream.session).after(write)
}

type OutgoingHeaders = Record<string, string | number | string[]>

/** HTTP/2 has no connection headers. */
function headersOf(status: number, headers: WireHeaders): OutgoingHeaders {
  const out: OutgoingHeaders = { ':status': status, ...(headers as OutgoingHeaders) }
  if (out.connection !== undefined) delete out.connection
  if (out['transfer-encoding'] !== undefined) delete out['transfer-encoding']
  if (out['keep-alive'] !== undefined) delete out['keep-alive']
  return out
}

/** A class, because an object literal with a getter has a slow shape of its own. */
class StreamSink implements Sink {
  readonly batches: TurnBatches
  readonly #stream: ServerHttp2Stream
  readonly #order: EventsFirst

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
    this.#order = stream.session ? eventsFirstOf(stream.session) : new EventsFirst()
    this.batches = this.#order.batches
  }

  write(chunk: Uint8Array): boolean {
    return this.#stream.write(chunk, this.#order.sent())
  }

  onRoom(callback: () => void): void {
    onceEither(this.#stream, callback)
  }

  onClose(callback: () => void): void {
    this.#stream.on('close', callback)
  }

  end(): void {
    this.#stream.end()
  }

  /** `close` with an error code would end the body first, and the client would consider it complete. */
  destroy(): void {
    this.#stream.destroy(new TransportError('ConnectionLost', 'the response was aborted'))
  }

  get closed(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }
}
