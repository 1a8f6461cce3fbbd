import { createServer, type Socket } from 'node:net'
import type { EndpointPicker, OpenSocket } from '../kube-proxy/service-sockets.ts'
import { openSocket } from './network.ts'
import type { Relay } from './relay.ts'

/** Milliseconds to wait for an endpoint before the next one is tried. */
const connectTimeout = 3_000

/** Rejects when the port cannot be opened. */
export function openTcp({ host, port, picker, active, maxConnections }: Relay): Promise<OpenSocket> {
  // Nothing is read before an endpoint is connected.
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, client => {
    if (active.size >= maxConnections) {
      client.resetAndDestroy()
      return
    }
    active.add(client)
    client.on('error', () => {}) // handled by 'close'
    client.on('close', () => active.delete(client))
    void relay(client, picker)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', reject)
      server.on('error', () => {}) // such as too many open files: the next connection may be accepted again
      resolve({
        close: () => {
          // Its callback would wait for the connections.
          server.close()
          return new Promise(closed => setImmediate(closed))
        },
      })
    })
  })
}

async function relay(client: Socket, picker: EndpointPicker): Promise<void> {
  const upstream = await connect(client.remoteAddress ?? '', picker)
  if (!upstream || client.destroyed) {
    upstream?.destroy()
    client.resetAndDestroy()
    return
  }
  join(client, upstream)
  join(upstream, client)
  client.pipe(upstream)
  upstream.pipe(client)
}

/** Ends and failures of either side are passed on to the other. */
function join(one: Socket, other: Socket): void {
  one.on('error', () => other.resetAndDestroy())
  one.on('close', () => other.destroy())
}

/** To the first endpoint that answers. */
async function connect(client: string, picker: EndpointPicker): Promise<Socket | undefined> {
  for (const endpoint of picker.candidates(client)) {
    for (const host of endpoint.hosts) {
      try {
        const socket = await openSocket(host, endpoint.port, connectTimeout)
        socket.setNoDelay(true)
        picker.connected(client, endpoint)
        return socket
      } catch {
        // refused: try the next endpoint
      }
    }
  }
  return undefined
}

export async function isTcpTaken(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '::1']) {
    try {
      const socket = await openSocket(host, port, 1_000)
      socket.destroy()
      return true
    } catch {
      // nothing listens on this address
    }
  }
  return false
}
