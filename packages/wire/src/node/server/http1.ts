import type { IncomingMessage, ServerResponse } from 'node:http'
import { discardBody, isStream, joinChunks } from '../../body.ts'
import type { WireResponse } from '../../message.ts'
import { StreamBody } from '../client/stream-body.ts'
import { bodyLength, type Sink, writePieces, writeStream } from './body-writer.ts'
import { frameChunk } from './chunk-frame.ts'
import {
  type ConnectionInfo,
  clientGone,
  collectHeaders,
  parseTarget,
  type ReceivedBody,
  ReceivedRequest,
} from './received-request.ts'
import type { ServerCore } from './server-core.ts'

/** How long the rest of a body that we refuse is read and thrown away, so that the client gets to read the answer. */
const lingerMs = 2000

/** Answers one HTTP/1.1 request. */
export function answerHttp1(
  core: ServerCore,
  connection: ConnectionInfo,
  message: IncomingMessage,
  response: ServerResponse,
): void {
  const target = parseTarget(message.url ?? '')
  const headers = collectHeaders(message.rawHeaders)
  if (!target || !headers) {
    response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end('400 Bad Request')
    message.resume()
    return
  }
  const begin = (body?: ReceivedBody) => {
    const request = new ReceivedRequest(message.method!, target, headers, connection, body)
    response.on('close', () => {
      if (!response.writableFinished) request.abort()
    })
    if (response.destroyed) request.abort()
    core.handle(request, answer => send(core, message, response, answer, body))
  }
  const declared = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (declared === undefined || declared === '0')) begin()
  else if (core.passesThrough(target.path)) begin(streamOf(message))
  else readMessage(core, message, Number(declared ?? 0), begin)
}

function streamOf(message: IncomingMessage): StreamBody {
  return new StreamBody({
    stream: message,
    cancel: () => message.pause(),
    truncated: () => (message.complete ? undefined : clientGone()),
    reason: clientGone,
  })
}

function readMessage(
  core: ServerCore,
  message: IncomingMessage,
  declared: number,
  begin: (body: Uint8Array | 'too large') => void,
): void {
  const limit = core.limits.bodyBytes
  if (declared > limit) {
    begin('too large')
    return
  }
  const chunks: Uint8Array[] = []
  let length = 0
  const deadline = { expire: () => message.socket.destroy() }
  core.deadlines.set(deadline, core.limits.bodyTimeout)
  const onData = (chunk: Buffer) => {
    length += chunk.length
    if (length <= limit) {
      chunks.push(chunk)
      return
    }
    finish()
    message.pause()
    begin('too large')
  }
  const onEnd = () => {
    finish()
    if (message.complete) begin(joinChunks(chunks))
  }
  const finish = () => {
    core.deadlines.forget(deadline)
    message.off('data', onData).off('end', onEnd).off('close', finish)
  }
  message.on('data', onData).on('end', onEnd).on('close', finish)
  message.on('error', () => {}) // the connection broke; 'close' follows
}

function send(
  core: ServerCore,
  message: IncomingMessage,
  response: ServerResponse,
  answer: WireResponse | undefined,
  received: ReceivedBody | undefined,
): void {
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
  if (core.draining) response.shouldKeepAlive = false
  if (received !== undefined && !(received instanceof Uint8Array)) lingerAfter(message, response, received)
  const { status, headers } = answer
  const silent = message.method === 'HEAD' || status === 204 || status === 304
  if (isStream(body)) {
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
  response.writeHead(status, {
    ...(headers as Record<string, string | string[]>),
    ...(status !== 204 &&
      status !== 304 &&
      headers['content-length'] === undefined && { 'content-length': length }),
  })
  if (silent || !body || length === 0) response.end()
  else if (body instanceof Uint8Array) response.end(body)
  else if (length <= 32 * 1024) response.end(joinChunks(body))
  else core.settle(writePieces(createPlainSink(response), body, core.stall))
}

/**
 * Reads on for a while without keeping anything: a client that is still sending would meet a reset otherwise, and not
 * read the answer. The connection goes on if the body ends in time.
 */
function lingerAfter(
  message: IncomingMessage,
  response: ServerResponse,
  received: Exclude<ReceivedBody, Uint8Array>,
): void {
  const { socket } = message
  if (received === 'too large') message.resume()
  response.on('finish', () => {
    if (message.complete) return
    if (received !== 'too large') {
      void discardBody(received)
      message.resume()
    }
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    const stop = () => {
      clearTimeout(timer)
      message.off('end', stop)
      socket.off('close', stop)
    }
    message.on('end', stop)
    socket.on('close', stop)
  })
}

function createPlainSink(response: ServerResponse): Sink {
  return {
    write: chunk => response.write(chunk),
    onRoom: callback => onceEither(response, callback),
    onClose: callback => void response.on('close', callback),
    end: () => response.end(),
    destroy: () => response.destroy(),
    get closed() {
      return response.destroyed
    },
  }
}

/**
 * Chunked encoding written to the socket directly. A watch event goes to many clients as the same bytes, so its frame is
 * made once (PERFORMANCE: 106k events/s instead of 66k). A response that waits for an earlier one on its connection has
 * no socket yet and is written the usual way.
 */
function createSink(response: ServerResponse): Sink {
  const plain = createPlainSink(response)
  const { socket } = response
  if (!socket || !response.chunkedEncoding) return plain
  return {
    ...plain,
    write: chunk => {
      const frame = frameChunk(chunk)
      if (frame) return socket.write(frame)
      return response.write(chunk)
    },
    onRoom: callback => {
      if (socket.writableNeedDrain) onceEither(socket, callback)
      else if (response.writableNeedDrain) onceEither(response, callback)
      else callback()
    },
    get closed() {
      return response.destroyed || socket.destroyed
    },
  }
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
