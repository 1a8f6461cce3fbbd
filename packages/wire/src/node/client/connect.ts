import { connect as connectTcp, isIP, type Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { TransportError } from '../../errors.ts'
import { builtin } from '../builtin-modules.ts'
import { connectSocks5 } from './socks5.ts'

/** TLS settings of a client. */
export interface ClientTls {
  /** PEM. Any certificate in it is a root, as in Go: an intermediate CA, or the server's own. @default the platform's */
  readonly ca?: string
  /** PEM: the client's certificate and its key. */
  readonly cert?: string
  readonly key?: string
  /** The server name for TLS. @default the host of the URL */
  readonly serverName?: string
  /** Accepts any certificate. @default false */
  readonly insecure?: boolean
}

/** Where and how to connect. */
export interface ConnectOptions {
  readonly server: URL
  readonly tls: ClientTls
  /** `http://`, `https://` or `socks5://`, credentials in the URL. */
  readonly proxy?: URL
  /** Milliseconds until the connection must be usable. */
  readonly timeout: number
}

/** Opens a connection to the server, through the proxy if there is one, with TLS if its URL says so. */
export async function connect(
  options: ConnectOptions,
  protocols: readonly string[],
): Promise<Socket | TLSSocket> {
  const { server, tls, proxy, timeout } = options
  const deadline = AbortSignal.timeout(timeout)
  const host = server.hostname.replace(/^\[|\]$/g, '')
  const secure = server.protocol === 'https:'
  const port = Number(server.port || (secure ? 443 : 80))
  const plain = proxy
    ? await connectThrough(proxy, host, port, deadline)
    : await settle(connectTcp({ host, port }), 'connect', deadline, `${host}:${port}`)
  plain.setNoDelay(true)
  plain.setKeepAlive(true, 30_000)
  if (!secure) return plain
  const name = tls.serverName ?? host
  const settings: ConnectionOptions = {
    socket: plain,
    minVersion: 'TLSv1.2',
    ALPNProtocols: [...protocols],
    rejectUnauthorized: !tls.insecure,
    allowPartialTrustChain: true,
    ...(isIP(name) ? { host: name } : { servername: name }),
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
  }
  let socket: TLSSocket
  try {
    socket = builtin.tls.connect(settings)
  } catch (cause) {
    plain.destroy()
    throw new TransportError('TlsFailed', `TLS settings for ${host}:${port}: ${(cause as Error).message}`, {
      cause,
      sent: false,
    })
  }
  return settle(socket, 'secureConnect', deadline, `${host}:${port}`)
}

/** Resolves when the socket is ready; destroys it otherwise. */
function settle<S extends Socket>(
  socket: S,
  ready: 'connect' | 'secureConnect',
  deadline: AbortSignal,
  where: string,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      socket.off(ready, onReady).off('error', onError).off('close', onClose)
      deadline.removeEventListener('abort', onTimeout)
    }
    const fail = (error: TransportError) => {
      finish()
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const onReady = () => {
      finish()
      resolve(socket)
    }
    const onError = (cause: Error) => {
      const code = ready === 'connect' ? 'ConnectFailed' : 'TlsFailed'
      fail(new TransportError(code, `${where}: ${cause.message}`, { cause, sent: false }))
    }
    const onClose = () =>
      fail(new TransportError('ConnectFailed', `${where}: connection closed`, { sent: false }))
    const onTimeout = () => fail(new TransportError('Timeout', `${where}: connect timeout`, { sent: false }))
    if (deadline.aborted) {
      onTimeout()
      return
    }
    socket.on(ready, onReady).on('error', onError).on('close', onClose)
    deadline.addEventListener('abort', onTimeout)
  })
}

async function connectThrough(
  proxy: URL,
  host: string,
  port: number,
  deadline: AbortSignal,
): Promise<Socket> {
  if (proxy.protocol === 'socks5:' || proxy.protocol === 'socks5h:') {
    const proxyHost = proxy.hostname.replace(/^\[|\]$/g, '')
    const proxyPort = Number(proxy.port || 1080)
    const socket = connectTcp({ host: proxyHost, port: proxyPort })
    await settle(socket, 'connect', deadline, `proxy ${proxy.host}`)
    return connectSocks5(socket, { host, port, username: proxy.username, password: proxy.password }, deadline)
  }
  if (proxy.protocol !== 'http:' && proxy.protocol !== 'https:') {
    throw new TransportError('ConnectFailed', `unsupported proxy protocol: ${proxy.protocol}`, {
      sent: false,
    })
  }
  return connectTunnel(proxy, host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, deadline)
}

function connectTunnel(proxy: URL, target: string, deadline: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
    const request = (proxy.protocol === 'https:' ? builtin.https : builtin.http).request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80)),
      method: 'CONNECT',
      path: target,
      agent: false,
      signal: deadline,
      headers: {
        host: target,
        ...(proxy.username && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
    })
    const fail = (message: string, cause?: unknown) => {
      const code = deadline.aborted ? 'Timeout' : 'ConnectFailed'
      reject(new TransportError(code, `proxy ${proxy.host}: ${message}`, { cause, sent: false }))
    }
    request.on('error', cause => fail(cause.message, cause))
    request.on('response', response => {
      response.resume()
      request.destroy()
      fail(`answered ${response.statusCode}`)
    })
    request.on('connect', (response, socket, head) => {
      if (response.statusCode !== 200) {
        socket.destroy()
        fail(`answered ${response.statusCode}`)
        return
      }
      if (head.length > 0) socket.unshift(head)
      resolve(socket as Socket)
    })
    request.end()
  })
}
