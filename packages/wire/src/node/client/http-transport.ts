import type { Socket } from 'node:net'
import { untilAborted } from '@coxswain/kit'
import { isTransportError, TransportError } from '../../errors.ts'
import type { Transport, WireRequest, WireResponse } from '../../message.ts'
import { type ClientTls, type ConnectOptions, connect } from './connect.ts'
import { Http1Exchange } from './http1-exchange.ts'
import type { Http2Connection, KeepAlive } from './http2-session.ts'

/** Options of {@link createHttpTransport}. */
export interface HttpTransportOptions {
  /** `https://host:6443`, or `http://127.0.0.1:8001` for `kubectl proxy`. A path is prepended to every request's. */
  readonly server: string
  /** A function is called for every new connection, so that credentials may rotate. */
  readonly tls?: ClientTls | (() => Promise<ClientTls>)
  /** `http://`, `https://` or `socks5://`. */
  readonly proxy?: string
  /** In milliseconds. */
  readonly timeouts?: {
    /** Until a connection can be used: name, TCP, proxy, TLS. @default 30000 */
    readonly connect?: number
    /** Idle time after which a busy HTTP/2 connection is pinged. @default 30000 */
    readonly pingAfter?: number
    /** @default 15000 */
    readonly ping?: number
    /** How long a connection without requests is kept. @default 90000 */
    readonly idle?: number
  }
  /** The maximum number of connections. HTTP/2 opens a second one only when the first is full. @default 256 */
  readonly maxConnections?: number
  /** @default true, if the server offers it */
  readonly http2?: boolean
}

/** A transport over HTTP whose credentials can be renewed. */
export interface HttpTransport extends Transport {
  /** Later requests use new connections; requests in flight finish on the old ones. */
  reset(): void
}

/** How often a request that the server certainly has not seen is retried. */
const resends = 3

/**
 * Requests over sockets. HTTP/2 if the server offers it, so that any number of watches share a connection; otherwise
 * HTTP/1.1. Connections are opened when needed, pinged, and replaced when they break; a request that
 * the server may have seen is never retried.
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { timeouts = {}, maxConnections = 256, http2 = true } = options
  const server = new URL(options.server)
  const prefix = server.pathname.replace(/\/+$/, '')
  const proxy = options.proxy === undefined ? undefined : new URL(options.proxy)
  const connectTimeout = timeouts.connect ?? 30_000
  const keepAlive: KeepAlive = {
    pingAfter: timeouts.pingAfter ?? 30_000,
    pingTimeout: timeouts.ping ?? 15_000,
    idle: timeouts.idle ?? 90_000,
  }
  const sessions = new Set<Http2Connection>()
  let http1: Http1Exchange | undefined
  /** The pending connection attempt that requests without a connection wait for. */
  let connecting: Promise<void> | undefined
  let closed = false
  const closedError = () => new TransportError('Closed', 'the transport is closed', { sent: false })

  const open = async (protocols: readonly string[]): Promise<Socket> => {
    const tls = typeof options.tls === 'function' ? await options.tls() : (options.tls ?? {})
    const settings: ConnectOptions = {
      server,
      tls,
      timeout: connectTimeout,
      ...(proxy && { proxy }),
    }
    const socket = await connect(settings, protocols)
    if (closed) {
      socket.destroy()
      throw closedError()
    }
    return socket
  }

  const useHttp1 = (first?: Socket): void => {
    let ready = first
    http1 ??= new Http1Exchange({
      server,
      maxConnections,
      idle: keepAlive.idle,
      open: async () => {
        const socket = ready
        ready = undefined
        return socket && !socket.destroyed ? socket : open(['http/1.1'])
      },
    })
  }

  const openConnection = async (): Promise<void> => {
    if (!http2 || server.protocol === 'http:') {
      useHttp1()
      return
    }
    // Loaded while the connection is opened.
    const http2Session = import('./http2-session.ts')
    const socket = await open(['h2', 'http/1.1'])
    if (!('alpnProtocol' in socket) || socket.alpnProtocol !== 'h2') {
      useHttp1(socket)
      return
    }
    const { Http2Connection } = await http2Session
    const connection = new Http2Connection(socket, server, keepAlive)
    connection.onClose(() => sessions.delete(connection))
    await connection.ready(connectTimeout)
    if (closed) connection.close(true)
    else sessions.add(connection)
  }

  /** A connection with capacity. When all are full at the limit, the one with the fewest requests. */
  const pick = (): Http2Connection | Http1Exchange | undefined => {
    if (http1) return http1
    let best: Http2Connection | undefined
    for (const session of sessions) {
      if (session.usable && (!best || session.open < best.open)) best = session
    }
    return best && (best.open < best.capacity || sessions.size >= maxConnections) ? best : undefined
  }

  const send = async (request: WireRequest): Promise<WireResponse> => {
    const message = prefix === '' ? request : withPath(request, prefix + request.path)
    const { signal } = message
    for (let attempt = 0; ; attempt++) {
      let connection = pick()
      while (!connection) {
        if (closed) throw closedError()
        signal.throwIfAborted()
        connecting ??= openConnection().finally(() => {
          connecting = undefined
        })
        await untilAborted(connecting, signal)
        connection = pick()
      }
      if (closed) throw closedError()
      signal.throwIfAborted()
      try {
        return await connection.send(message) // nothing is awaited since `pick`: there is still capacity
      } catch (error) {
        // A stream has been read, at least in part.
        const unseen = isTransportError(error, 'ConnectionLost') && !error.sent && !message.bodyStream
        if (!unseen || attempt >= resends || signal.aborted) throw error
      }
    }
  }

  const reset = () => {
    for (const session of sessions) session.close(false)
    sessions.clear()
    http1?.close(false)
    http1 = undefined
  }

  return {
    send,
    reset,
    async [Symbol.asyncDispose]() {
      closed = true
      for (const session of sessions) session.fail(closedError())
      http1?.close(true)
      await connecting?.catch(() => {})
    },
  }
}

function withPath(request: WireRequest, path: string): WireRequest {
  const { method, query, headers, body, bodyStream, signal } = request
  return { method, path, query, headers, signal, ...(body && { body }), ...(bodyStream && { bodyStream }) }
}
