import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { TransportError } from '../../errors.ts'
import type { WireHeaders, WireRequest, WireResponse } from '../../message.ts'
import { sendStream } from './send-stream.ts'
import { StreamBody } from './stream-body.ts'

/** Ping settings, in milliseconds. */
export interface KeepAlive {
  /** A busy connection that is silent for this long is pinged. */
  readonly pingAfter: number
  /** The ping timeout. */
  readonly pingTimeout: number
  /** A connection without requests is closed after this time. */
  readonly idle: number
}

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM, NGHTTP2_NO_ERROR } = constants

/** As Go's transport: an unread stream buffers this much, and cannot block the others. */
const streamWindow = 4 * 1024 ** 2
const connectionWindow = 1024 ** 3

/** One HTTP/2 connection. */
export class Http2Connection {
  readonly #session: ClientHttp2Session
  readonly #keepAlive: KeepAlive
  readonly #scheme: string
  readonly #authority: string
  #open = 0
  #failure: TransportError | undefined
  #goingAway = false
  #pulse: NodeJS.Timeout | undefined
  #pong: NodeJS.Timeout | undefined
  #bytesSeen = 0
  #quietSince = 0

  constructor(socket: Socket | TLSSocket, server: URL, keepAlive: KeepAlive) {
    this.#keepAlive = keepAlive
    this.#scheme = server.protocol.slice(0, -1)
    this.#authority = server.host
    this.#session = connectHttp2(server.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow, maxHeaderListSize: 1024 ** 2 },
      maxSessionMemory: 256,
    })
    const session = this.#session
    session.on('connect', () => session.setLocalWindowSize(connectionWindow))
    session.on('goaway', () => {
      this.#goingAway = true
    })
    session.on('error', cause => {
      this.#failure ??= new TransportError('ConnectionLost', `the connection failed: ${cause.message}`, {
        cause,
      })
    })
    session.on('close', () => {
      clearInterval(this.#pulse)
      clearTimeout(this.#pong)
    })
    this.#pulse = setInterval(() => this.#beat(socket), Math.min(keepAlive.pingAfter, keepAlive.idle) / 4)
    this.#pulse.unref()
  }

  get usable(): boolean {
    return !this.#goingAway && !this.#failure && !this.#session.closed && !this.#session.destroyed
  }

  /** Requests in flight. */
  get open(): number {
    return this.#open
  }

  /** How many concurrent requests the server allows. */
  get capacity(): number {
    return this.#session.remoteSettings?.maxConcurrentStreams ?? 100
  }

  /**
   * Resolves when the server has sent its SETTINGS; rejects when it does not within `timeout`, or closes
   * the connection. From then on the connection keeps the process alive only while it has requests.
   */
  ready(timeout: number): Promise<void> {
    const session = this.#session
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.fail(
          new TransportError('Timeout', 'the server did not send its HTTP/2 settings', { sent: false }),
        )
      }, timeout)
      const onSettings = () => {
        clearTimeout(timer)
        session.off('close', onClose)
        if (this.#open === 0) session.unref()
        resolve()
      }
      const onClose = () => {
        clearTimeout(timer)
        const closed = 'the server closed the new connection'
        reject(this.#failure ?? new TransportError('ConnectionLost', closed, { sent: false }))
      }
      session.once('remoteSettings', onSettings)
      session.once('close', onClose)
    })
  }

  onClose(callback: () => void): void {
    this.#session.on('close', callback)
  }

  send(request: WireRequest): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const { signal, body, bodyStream } = request
      let stream: ClientHttp2Stream
      try {
        const endStream = body === undefined && bodyStream === undefined
        stream = this.#session.request(this.#headersOf(request), { endStream })
      } catch (cause) {
        const message = `the request cannot be sent: ${(cause as Error).message}`
        reject(new TransportError('ConnectionLost', message, { cause, sent: false }))
        return
      }
      if (this.#open++ === 0) this.#session.ref()
      let failure: Error | undefined
      let isAnswered = false
      const onAbort = () => stream.close(NGHTTP2_CANCEL)
      signal.addEventListener('abort', onAbort, { once: true })
      stream.on('response', headers => {
        const reason = () => this.#reasonOf(stream, signal, failure)
        // A stream that was reset, or lost its connection, ends like a complete one except for its code.
        const truncated = () => (stream.rstCode === NGHTTP2_NO_ERROR && !this.#failure ? undefined : reason())
        const source = { stream, cancel: onAbort, truncated, reason }
        isAnswered = true
        resolve({
          status: headers[':status'] ?? 0,
          headers: headers as WireHeaders,
          body: new StreamBody(source),
        })
      })
      stream.on('error', error => {
        failure = error
      })
      stream.on('close', () => {
        signal.removeEventListener('abort', onAbort)
        if (--this.#open === 0) this.#session.unref()
        if (!isAnswered) reject(this.#reasonOf(stream, signal, failure))
      })
      if (body !== undefined) stream.end(body)
      else if (bodyStream) sendStream(bodyStream, stream)
    })
  }

  /** Lets requests in flight finish, or not. */
  close(force: boolean): void {
    if (force) this.#session.destroy()
    else this.#session.close()
  }

  fail(error: TransportError): void {
    this.#failure ??= error
    this.#session.destroy()
  }

  #headersOf(request: WireRequest): Record<string, string | string[]> {
    const { method, path, query, headers, body } = request
    return {
      ':method': method,
      ':path': query === '' ? path : `${path}?${query}`,
      ':scheme': this.#scheme,
      ':authority': this.#authority,
      ...(headers as Record<string, string | string[]>),
      ...(body !== undefined && { 'content-length': String(body.length) }),
    }
  }

  #reasonOf(stream: ClientHttp2Stream, signal: AbortSignal, cause: Error | undefined): unknown {
    if (signal.aborted) return signal.reason
    if (stream.rstCode === NGHTTP2_REFUSED_STREAM || isUnprocessed(cause)) {
      return new TransportError('ConnectionLost', 'the server did not accept the request', {
        cause,
        sent: false,
      })
    }
    if (this.#failure) return this.#failure
    const how = stream.rstCode === NGHTTP2_NO_ERROR ? '' : ` (HTTP/2 error ${stream.rstCode})`
    return new TransportError('ConnectionLost', `the connection was lost${how}`, cause ? { cause } : {})
  }

  /** Pings a silent busy connection, closes an idle one. */
  #beat(socket: Socket): void {
    const now = performance.now()
    const seen = socket.bytesRead
    if (seen !== this.#bytesSeen || this.#quietSince === 0) {
      this.#bytesSeen = seen
      this.#quietSince = now
      return
    }
    const quiet = now - this.#quietSince
    if (this.#open === 0) {
      if (quiet >= this.#keepAlive.idle) this.#session.close()
      return
    }
    if (quiet < this.#keepAlive.pingAfter || this.#pong) return
    this.#pong = setTimeout(() => {
      this.fail(new TransportError('ConnectionLost', 'the server did not answer a ping'))
    }, this.#keepAlive.pingTimeout)
    const answered = () => {
      clearTimeout(this.#pong)
      this.#pong = undefined
    }
    if (!this.#session.destroyed && !this.#session.closed) this.#session.ping(answered)
    else answered()
  }
}

/** The server's GOAWAY says that it has not processed this request. */
function isUnprocessed(error: Error | undefined): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return code === 'ERR_HTTP2_GOAWAY_SESSION'
}
