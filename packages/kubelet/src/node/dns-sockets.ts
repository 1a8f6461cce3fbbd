import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { createServer, type Server, type Socket } from 'node:net'
import type { AnswerQuery, DnsSockets } from '../dns/cluster-dns.ts'
import { openResult } from './open-result.ts'
import { replyDatagram } from './reply-datagram.ts'

/** Options of {@link createDnsSockets}. */
export interface DnsSocketsOptions {
  /** The most concurrent connections; more are rejected. @default 100 */
  readonly maxConnections?: number
  /** Milliseconds without a query until a connection is closed. @default 10000 */
  readonly idleTimeout?: number
}

/** The most unread answers of a client, in bytes: one that reads nothing is disconnected. */
const maxUnread = 256 * 1024

/** UDP and TCP sockets of this machine for a DNS server. */
export function createDnsSockets(options: DnsSocketsOptions = {}): DnsSockets {
  const { maxConnections = 100, idleTimeout = 10_000 } = options
  const closers = new Set<() => Promise<void>>()
  return {
    open: async ({ host, port }, answer) =>
      await openResult(async () => {
        const datagrams = await bind(host, port, answer)
        let streams: { readonly server: Server; readonly connections: ReadonlySet<Socket> }
        try {
          streams = await listen({ host, port: datagrams.address().port }, answer, {
            maxConnections,
            idleTimeout,
          })
        } catch (error) {
          datagrams.close()
          throw error
        }
        const close = async () => {
          closers.delete(close)
          for (const connection of streams.connections) connection.destroy()
          await Promise.all([
            new Promise<void>(resolve => datagrams.close(resolve)),
            new Promise<void>(resolve => streams.server.close(() => resolve())),
          ])
        }
        closers.add(close)
        return { close }
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all([...closers].map(close => close()))
    },
  }
}

function bind(address: string, port: number, answer: AnswerQuery): Promise<DatagramSocket> {
  const socket = createSocket('udp4')
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.bind({ address, port, exclusive: true }, () => {
      socket.removeListener('error', reject)
      socket.on('error', () => {}) // the client has disconnected
      socket.on('message', (query, client) => {
        const reply = answer(query, 'udp')
        if (reply) replyDatagram(socket, client, reply)
      })
      resolve(socket)
    })
  })
}

async function listen(
  { host, port }: { readonly host: string; readonly port: number },
  answer: AnswerQuery,
  { maxConnections, idleTimeout }: Required<DnsSocketsOptions>,
) {
  const connections = new Set<Socket>()
  const server = createServer(socket => {
    connections.add(socket)
    socket.on('close', () => connections.delete(socket))
    socket.on('error', () => {}) // the client has disconnected
    socket.setTimeout(idleTimeout, () => socket.destroy())
    serveStream(socket, answer)
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
  server.on('error', () => {}) // a connection that could not be accepted
  return { server, connections }
}

/** Each message is preceded by its length. */
function serveStream(socket: Socket, answer: AnswerQuery): void {
  let held: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    while (held.length >= 2) {
      const end = 2 + held.readUInt16BE(0)
      if (held.length < end) return
      const reply = answer(held.subarray(2, end), 'tcp')
      held = held.subarray(end)
      if (!reply || socket.writableLength > maxUnread) {
        socket.destroy()
        return
      }
      const length = Buffer.alloc(2)
      length.writeUInt16BE(reply.length)
      socket.write(Buffer.concat([length, reply]))
    }
  })
}
