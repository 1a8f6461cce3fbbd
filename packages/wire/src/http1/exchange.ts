import { concatBytes, encodeText } from '@coxswain/kit'
import type { ByteStream } from '../byte-stream.ts'
import { isTransportError, TransportError } from '../errors.ts'
import type { WireHeaders } from '../message.ts'
import { ByteReader } from './byte-reader.ts'
import { framingOf, type Http1Head, readFramed, readHead } from './response.ts'

/** A request for one exchange on its own connection. */
export interface Http1Request {
  readonly method: string
  /** Path and query, encoded. */
  readonly target: string
  /** With `host`. Headers for the framing of the body and for the connection are ignored. */
  readonly headers: WireHeaders
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  /** The length of a stream, if known; otherwise it is sent chunked. */
  readonly bodyLength?: number
  /** Asks for the protocol that the `upgrade` header names. @default false */
  readonly upgrade?: boolean
  /** Aborts the exchange, including a response or upgraded connection. */
  readonly signal: AbortSignal
}

/** The response of an exchange. */
export interface Http1Response extends Http1Head {
  /** Reading to the end, or `return`, closes the connection. Absent after an upgrade. */
  readonly body?: AsyncIterable<Uint8Array>
  /** After a 101: the connection, which now belongs to the caller. */
  readonly upgraded?: ByteStream
}

/** Interim responses. */
const interimLimit = 5

/**
 * Sends one request on a fresh connection and resolves with the head of the response; the connection is closed at the
 * body's end and never reused, so nothing that a peer sends after a body can become another request's response. Rejects with a
 * `TransportError`, or the signal's reason, and closes the connection then too.
 */
export async function sendHttp1(stream: ByteStream, request: Http1Request): Promise<Http1Response> {
  const { signal, method } = request
  const onAbort = () => stream.destroy()
  let isOver = false
  const finish = () => {
    isOver = true
    signal.removeEventListener('abort', onAbort)
    stream.destroy()
  }
  try {
    signal.throwIfAborted()
    const head = formatRequest(request)
    signal.addEventListener('abort', onAbort, { once: true })
    await stream.write(head)
    const sending = sendBody(stream, request, () => isOver)
    sending.catch(() => {}) // a response may still arrive; otherwise the reader reports it
    const reader = new ByteReader(stream.data)
    const answer = await readAnswer(reader)
    if (answer.status === 101) {
      if (!request.upgrade) throw new TransportError('BadMessage', 'unexpected status 101')
      const data = { [Symbol.asyncIterator]: () => restOf(reader) }
      const upgraded = { data, write: stream.write.bind(stream), end: () => stream.end(), destroy: finish }
      return { ...answer, upgraded }
    }
    const framing = framingOf(method, answer)
    if (framing.kind === 'none') finish()
    return { ...answer, body: new ClosingBody(readFramed(reader, framing), finish, signal) }
  } catch (error) {
    finish()
    throw signal.aborted ? signal.reason : asTransportError(error)
  }
}

async function readAnswer(reader: ByteReader): Promise<Http1Head> {
  for (let interim = 0; ; interim++) {
    const head = await readHead(reader)
    if (head.status >= 200 || head.status === 101) return head
    if (interim === interimLimit)
      throw new TransportError('BadMessage', 'too many 1xx informational responses')
  }
}

async function* restOf(reader: ByteReader): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const piece = await reader.take()
    if (!piece) return
    yield piece
  }
}

/** Closes the connection when it is read to the end, fails, or is left, even before the first read. */
class ClosingBody implements AsyncIterableIterator<Uint8Array> {
  readonly #pieces: AsyncGenerator<Uint8Array, void, undefined>
  readonly #close: () => void
  readonly #signal: AbortSignal

  constructor(pieces: AsyncGenerator<Uint8Array, void, undefined>, close: () => void, signal: AbortSignal) {
    this.#pieces = pieces
    this.#close = close
    this.#signal = signal
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    try {
      const { value, done } = await this.#pieces.next()
      if (!done) return { value, done: false }
      this.#close()
      return { value: undefined, done: true }
    } catch (error) {
      this.#close()
      throw this.#signal.aborted ? this.#signal.reason : asTransportError(error)
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#close()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

function asTransportError(error: unknown): unknown {
  if (isTransportError(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  return new TransportError('ConnectionLost', message, { cause: error })
}

/** Connection and framing headers are set here alone. */
const own = new Set(['connection', 'content-length', 'transfer-encoding', 'expect', 'keep-alive', 'trailer'])
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

function formatRequest({ method, target, headers, body, bodyLength, upgrade }: Http1Request): Uint8Array {
  if (!token.test(method) || !/^[!-~]+$/.test(target)) throw unsendable('request line')
  let head = `${method} ${target} HTTP/1.1\r\n`
  for (const name in headers) {
    if (own.has(name) || (name === 'upgrade' && !upgrade)) continue
    if (!token.test(name)) throw unsendable(`header ${JSON.stringify(name)}`)
    const value = headers[name]!
    for (const line of typeof value === 'object' ? value : [value]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what may not be sent
      if (/[\0-\x08\x0a-\x1f\x7f]|[^\0-\xff]/.test(line)) throw unsendable(`value of header ${name}`)
      head += `${name}: ${line}\r\n`
    }
  }
  const length = body instanceof Uint8Array ? body.length : body ? bodyLength : undefined
  if (length !== undefined) head += `content-length: ${length}\r\n`
  else if (body) head += 'transfer-encoding: chunked\r\n'
  else if (method === 'POST' || method === 'PUT' || method === 'PATCH') head += 'content-length: 0\r\n'
  head += upgrade ? 'connection: Upgrade\r\n\r\n' : 'connection: close\r\n\r\n'
  return Uint8Array.from(head, character => character.charCodeAt(0))
}

async function sendBody(
  stream: ByteStream,
  { body, bodyLength }: Http1Request,
  isOver: () => boolean,
): Promise<void> {
  if (!body) return
  if (body instanceof Uint8Array) {
    await stream.write(body)
    return
  }
  try {
    let sent = 0
    for await (const chunk of body) {
      if (isOver()) return
      if (chunk.length === 0) continue
      sent += chunk.length
      if (bodyLength === undefined) await stream.write(frameOf(chunk))
      else if (sent > bodyLength) throw unsendable('body: it is longer than it said')
      else await stream.write(chunk)
    }
    if (bodyLength === undefined) await stream.write(lastChunk)
    else if (sent < bodyLength) throw unsendable('body: it is shorter than it said')
  } catch (error) {
    // Half a body must not look like a whole one, nor leave the server waiting for the rest.
    stream.destroy()
    throw error
  }
}

const lineEnd = encodeText('\r\n')
const lastChunk = encodeText('0\r\n\r\n')

function frameOf(chunk: Uint8Array): Uint8Array {
  const size = encodeText(`${chunk.length.toString(16)}\r\n`)
  return concatBytes([size, chunk, lineEnd])
}

function unsendable(what: string): TransportError {
  return new TransportError('BadMessage', `the request cannot be sent: ${what}`, { sent: false })
}
