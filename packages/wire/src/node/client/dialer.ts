import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { ByteStream } from '../../byte-stream.ts'
import { TransportError } from '../../errors.ts'
import { type ClientTls, connect } from './connect.ts'

/** Milliseconds until a connection must be usable, TLS included. */
const connectTimeout = 30_000

/** Opens plain byte connections. */
export interface SocketDialer {
  /** The addresses of a host name; an address resolves to itself. Rejects with `ConnectFailed` when there are none. */
  lookup(host: string): Promise<readonly string[]>
  /** Rejects with a `TransportError`. */
  connect(host: string, port: number, tls?: ClientTls): Promise<ByteStream>
  /** Starts TLS, as the client, on an existing connection, which then belongs to the new one. */
  secure(stream: ByteStream, tls: ClientTls): Promise<ByteStream>
}

/** Dials with TCP sockets. */
export const socketDialer: SocketDialer = {
  async lookup(host) {
    if (isIP(host)) return [host]
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address)
    } catch (cause) {
      throw new TransportError('ConnectFailed', `lookup ${host}: no such host`, { cause, sent: false })
    }
  },
  async connect(host, port, tls) {
    const server = new URL(`${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`)
    return toByteStream(await connect({ server, tls: tls ?? {}, timeout: connectTimeout }, ['http/1.1']))
  },
  secure: (stream, tls) =>
    new Promise((resolve, reject) => {
      const { serverName = '', insecure, ca, cert, key } = tls
      const socket = connectTls({
        socket: toDuplex(stream),
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        rejectUnauthorized: !insecure,
        allowPartialTrustChain: true,
        ...(isIP(serverName) ? { host: serverName } : serverName !== '' && { servername: serverName }),
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
      })
      const timer = setTimeout(() => fail(new Error('TLS handshake timeout')), connectTimeout)
      const fail = (cause: Error) => {
        clearTimeout(timer)
        socket.on('error', () => {}).destroy()
        stream.destroy()
        reject(new TransportError('TlsFailed', cause.message, { cause, sent: false }))
      }
      const onClose = () => fail(new Error('EOF'))
      socket.once('error', fail).once('close', onClose)
      socket.once('secureConnect', () => {
        clearTimeout(timer)
        socket.off('error', fail).off('close', onClose)
        resolve(toByteStream(socket))
      })
    }),
}

export function toByteStream(socket: Duplex): ByteStream {
  socket.on('error', () => {}) // the reader gets the error
  return {
    data: socket,
    async write(chunk) {
      if (socket.destroyed || socket.writableEnded || socket.write(chunk)) return
      await new Promise<void>(resolve => {
        const done = () => {
          socket.off('drain', done).off('close', done)
          resolve()
        }
        socket.on('drain', done).on('close', done)
      })
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  }
}

function toDuplex(stream: ByteStream): Duplex {
  let source: AsyncIterator<Uint8Array> | undefined
  const duplex = new Duplex({
    read() {
      source ??= stream.data[Symbol.asyncIterator]()
      source.next().then(
        ({ value, done }) => duplex.push(done ? null : value),
        error => duplex.destroy(error as Error),
      )
    },
    write(chunk: Uint8Array, _encoding, callback) {
      stream.write(chunk).then(() => callback(), callback)
    },
    final(callback) {
      stream.end()
      callback()
    },
    destroy(error, callback) {
      stream.destroy()
      callback(error)
    },
  })
  return duplex
}
