import type { OpenResult, OpenSocket, ServiceSockets } from '../kube-proxy/service-sockets.ts'
import { openHealth } from './health-server.ts'
import { openResult } from './open-result.ts'
import { isTcpTaken, openTcp } from './tcp-relay.ts'
import { isUdpTaken, openUdp } from './udp-relay.ts'

/** Options of {@link createServiceSockets}. */
export interface ServiceSocketsOptions {
  /** The most concurrent connections of all Services; more are rejected. @default 4096 */
  readonly maxConnections?: number
}

const defaultConnections = 4096

/** Service sockets of this machine. */
export function createServiceSockets(options: ServiceSocketsOptions = {}): ServiceSockets {
  const { maxConnections = defaultConnections } = options
  const active = new Set<{ destroy(): void }>()
  const listening = new Set<OpenSocket>()
  const keep = async (open: () => Promise<OpenSocket>): Promise<OpenResult> => {
    const result = await openResult(open)
    if (!result.opened) return result
    const { socket } = result
    listening.add(socket)
    const close = async () => {
      listening.delete(socket)
      await socket.close()
    }
    return { opened: true, socket: { close } }
  }
  return {
    open: async ({ protocol, host, port }, picker) => {
      const relay = { host, port, picker, active, maxConnections }
      return await keep(() => (protocol === 'TCP' ? openTcp(relay) : openUdp(relay)))
    },
    serveHealth: async (place, answer) => await keep(() => openHealth(place, answer)),
    isTaken: async (protocol, port) => await (protocol === 'TCP' ? isTcpTaken(port) : isUdpTaken(port)),
    async [Symbol.asyncDispose]() {
      await Promise.all([...listening].map(socket => socket.close()))
      for (const connection of active) connection.destroy()
    },
  }
}
