import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { performServerHandshake, type ServerHttp2Session } from 'node:http2'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions, TLSSocket } from 'node:tls'
import { type Logger, silentLogger } from '@coxswain/kit'
import { TransportError } from '../../errors.ts'
import type { Handler, WireRequest } from '../../message.ts'
import { builtin } from '../builtin-modules.ts'
import { readPeerCertificate } from '../x509/read.ts'
import { answerHttp1 } from './http1.ts'
import { serveSession } from './http2.ts'
import { defaultLimits, type ServerLimits } from './limits.ts'
import { createNameSelector, type NamedCertificate, type NameSelector } from './named-certificates.ts'
import { type ConnectionInfo, collectHeaders, parseTarget, ReceivedRequest } from './received-request.ts'
import { type PassThrough, ServerCore } from './server-core.ts'

/** The server certificate, and the CA of client certificates. */
export interface ServerTls {
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** PEM. Client certificates are requested and optional; one that this CA did not sign becomes `peerError`. */
  readonly clientCa?: string
  /** Other certificates, by the names that clients ask for (SNI); the first that has a name serves it. @default none */
  readonly named?: readonly NamedCertificate[]
}

/** Options of {@link serve}. */
export interface ServeOptions {
  readonly handler: Handler
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 picks a free one. @default 0 */
  readonly port?: number
  /** With it HTTPS, HTTP/2 and HTTP/1.1 by ALPN; without it plain HTTP/1.1. */
  readonly tls?: ServerTls
  readonly limits?: ServerLimits
  /** @default no logs */
  readonly log?: Logger
  /**
   * Takes over the connection of an HTTP/1.1 request that asks for an upgrade to WebSocket or SPDY/3.1; false answers
   * 400. Without it, and for other upgrades, the handler answers as if no upgrade was requested.
   */
  readonly upgrade?: (request: WireRequest, socket: Duplex, head: Uint8Array) => boolean
  /**
   * Which requests are proxied by the handler: their bodies are streamed, of any length and duration, and
   * `upgrade` gets every upgrade they request. @default none
   */
  readonly passesThrough?: PassThrough
  /**
   * Calls the handler as soon as the headers have arrived: it receives the body of a request that it does not reject with
   * `receiveBody`. @default false: it is called when the body has arrived
   */
  readonly defersBodies?: boolean
  /** Which requests start at once, however many others wait for their turn; `path` is as on the wire. @default none */
  readonly isUrgent?: (path: string) => boolean
}

/** How a server closes. */
export interface CloseOptions {
  /** Milliseconds that requests in flight get to finish. @default 10000 */
  readonly grace?: number
}

/** A listening server. */
export interface HttpServer extends AsyncDisposable {
  /** `https://127.0.0.1:6443` */
  readonly url: string
  readonly port: number
  /** New connections use these certificates; existing ones keep theirs. */
  setTls(tls: ServerTls): void
  /**
   * Stops listening, tells clients to reconnect (GOAWAY, `Connection: close`), waits for requests in flight,
   * and aborts the rest. Resolves when every connection is closed and every handler has returned.
   */
  close(options?: CloseOptions): Promise<void>
}

const defaultGrace = 10_000

/** Serves a handler over HTTP/1.1 and HTTP/2; resolves when the port is bound. Rejects with `ListenFailed`. */
export async function serve(options: ServeOptions): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 0, tls } = options
  const limits = { ...defaultLimits, ...options.limits }
  const { handler, log = silentLogger, passesThrough, isUrgent, defersBodies } = options
  const core = new ServerCore({ handler, limits, log, passesThrough, isUrgent, defersBodies })
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const shared = httpOptions(core, options.upgrade !== undefined)
  const names = { select: tls && selectorOf(tls) }
  const server = tls ? createTls(tls, core, { shared, sessions, names }) : builtin.http.createServer(shared)
  configure(server, core, options.upgrade)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // the peer reset the connection; 'close' follows
  })
  await listen(server, host, port)
  const bound = (server.address() as AddressInfo).port
  let closing: Promise<void> | undefined
  const close = async ({ grace = defaultGrace }: CloseOptions = {}) => {
    core.draining = true
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    for (const session of sessions) session.close()
    server.closeIdleConnections()
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, grace)
    await closed
    clearTimeout(timer)
    await core.idle()
    core.deadlines[Symbol.dispose]()
  }
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    setTls(next) {
      if (!tls) return
      const select = selectorOf(next)
      ;(server as TlsServer).setSecureContext(secureContext(next))
      names.select = select
    },
    close(closeOptions) {
      closing ??= close(closeOptions)
      return closing
    },
    async [Symbol.asyncDispose]() {
      closing ??= close({ grace: 0 })
      await closing
    },
  }
}

function listen(server: Server | TlsServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', cause => {
      reject(
        new TransportError('ListenFailed', `cannot listen on ${host}:${port}: ${cause.message}`, { cause }),
      )
    })
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

/** Options of the HTTP/1.1 side that both servers share. */
function httpOptions(core: ServerCore, takesUpgrades: boolean) {
  const { limits } = core
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeout,
    requestTimeout: 0, // bodies have their own deadline
    keepAliveTimeout: limits.idleTimeout,
    connectionsCheckingInterval: Math.min(5000, limits.headerTimeout),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    shouldUpgradeCallback: (message: IncomingMessage) =>
      takesUpgrades &&
      (upgrades.test(message.headers.upgrade ?? '') ||
        core.passesThrough(parseTarget(message.url ?? '')?.path ?? '')),
  }
}

const upgrades = /^(?:websocket|spdy\/3\.1)$/i

function secureContext({ cert, key, clientCa }: ServerTls): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(clientCa && { ca: clientCa }) }
}

function selectorOf(tls: ServerTls): NameSelector {
  const { named = [] } = tls
  return createNameSelector(named, pair => secureContext({ ...tls, ...pair }))
}

interface TlsParts {
  readonly shared: ReturnType<typeof httpOptions>
  readonly sessions: Set<ServerHttp2Session>
  /** What finds the certificate of a name; it changes with the certificates. */
  readonly names: { readonly select: NameSelector | undefined }
}

/**
 * An HTTPS server whose connections go to HTTP/2 by ALPN: its own listener is that of HTTP/1.1. HTTP/2 uses the
 * stream API of `node:http2`; the compatibility API costs 40 % of the throughput.
 */
function createTls(tls: ServerTls, core: ServerCore, { shared, sessions, names }: TlsParts): TlsServer {
  const { limits } = core
  const server = createTlsServer({
    ...shared,
    ...secureContext(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: tls.clientCa !== undefined,
    rejectUnauthorized: false,
    // Without a certificate of that name it is the server's own.
    SNICallback: (name, done) => done(null, names.select?.(name)),
    handshakeTimeout: limits.headerTimeout,
  })
  const [serveHttp1] = server.listeners('secureConnection')
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    ignoreFailedCheck(socket)
    if (socket.alpnProtocol !== 'h2') {
      serveHttp1!.call(server, socket)
      return
    }
    const session = performServerHandshake(socket, {
      maxHeaderListPairs: 4096,
      maxSessionMemory: 64,
      settings: {
        maxConcurrentStreams: limits.streams,
        maxHeaderListSize: limits.headerBytes,
        // The part of a body that arrives before the handler decides to read it is kept in memory.
        initialWindowSize: 64 * 1024,
        enablePush: false,
      },
    })
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    serveSession(core, describeConnection(socket), session)
    if (core.draining) session.close()
  })
  return server
}

/**
 * A client certificate with an invalid signature leaves an error in OpenSSL's queue. With TLS 1.2 the next operation
 * of the connection finds it there and fails; but the handshake is over, and the response is a 401.
 */
function ignoreFailedCheck(socket: TLSSocket): void {
  if (String(socket.authorizationError) !== 'CERT_SIGNATURE_FAILURE') return
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...details: unknown[]) => boolean
  socket.emit = (event: string | symbol, ...details: unknown[]) => {
    const { code } = (details[0] ?? {}) as NodeJS.ErrnoException
    return (event === 'error' && /^ERR_(?:OS)?SSL_/.test(code ?? '')) || emit(event, ...details)
  }
}

function configure(server: Server | TlsServer, core: ServerCore, upgrade: ServeOptions['upgrade']): void {
  server.maxHeadersCount = 0
  /** Per socket, created at its first request. */
  const connections = new WeakMap<Socket, ConnectionInfo>()
  const connectionOf = (socket: Socket): ConnectionInfo => {
    let connection = connections.get(socket)
    if (!connection) {
      connection = describeConnection(socket)
      connections.set(socket, connection)
    }
    return connection
  }
  const answer = (message: IncomingMessage, response: ServerResponse) =>
    answerHttp1(core, connectionOf(message.socket), { message, response, expectsContinue: false })
  server.on('request', answer)
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    answerHttp1(core, connectionOf(message.socket), { message, response, expectsContinue: true })
  })
  if (!upgrade) return
  server.on('upgrade', (message, socket, head) => {
    const target = parseTarget(message.url ?? '')
    const headers = collectHeaders(message.rawHeaders)
    if (!target || !headers) {
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
      return
    }
    const request = new ReceivedRequest(
      message.method!,
      target,
      headers,
      connectionOf(message.socket),
      undefined,
    )
    socket.on('close', () => request.abort())
    if (!upgrade(request, socket, head)) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  })
}

/** The peer's identity, as verified by TLS. */
function describeConnection(socket: Socket | TLSSocket): ConnectionInfo {
  const remoteAddress = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
  const none = { peer: undefined, peerError: undefined, remoteAddress }
  if (!('getPeerX509Certificate' in socket)) return none
  const certificate = socket.getPeerX509Certificate()
  if (!certificate) return none
  if (!socket.authorized) return { ...none, peerError: String(socket.authorizationError) }
  try {
    return { ...none, peer: { ...readPeerCertificate(certificate.raw), raw: certificate.raw } }
  } catch (error) {
    return { ...none, peerError: (error as Error).message }
  }
}
