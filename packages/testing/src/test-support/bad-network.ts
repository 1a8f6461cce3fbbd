import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@coxswain/kit'

/** Between a client and a server: bytes pass until something happens to the connection. */
export interface BadNetwork extends AsyncDisposable {
  readonly port: number
  /** How often something happened. */
  readonly incidents: number
  /** Where new connections lead. */
  upstream: number
  /** From now on everything passes; connections that went silent stay so. */
  heal(): void
}

type Incident = 'reset' | 'close' | 'silence' | 'crawl'

/** Resets and closes connections in the middle of anything, lets them go silent in both directions, or crawl. */
export async function startBadNetwork(upstream: number, random: Random): Promise<BadNetwork> {
  const sockets = new Set<Socket>()
  let healed = false
  let incidents = 0
  const network = { upstream }
  const proxy = createServer({ pauseOnConnect: false }, client => {
    const server = connect(network.upstream, '127.0.0.1')
    let budget = 3_000 + random.below(20_000)
    let state: Incident | undefined
    const relay = (from: Socket, to: Socket): void => {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', async data => {
        budget -= data.length
        if (budget <= 0 && !healed && state === undefined) {
          incidents++
          state = (['reset', 'close', 'silence', 'crawl'] as const)[random.below(4)]!
          if (state === 'reset') client.resetAndDestroy()
          if (state === 'close') server.destroy()
        }
        if (state === 'silence' || from.destroyed || to.destroyed) return
        if (state === 'crawl' && !healed) {
          from.pause()
          await sleep(100)
          from.resume()
        }
        if (!to.destroyed) to.write(data)
      })
    }
    relay(client, server)
    relay(server, client)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as AddressInfo).port,
    get incidents() {
      return incidents
    },
    get upstream() {
      return network.upstream
    },
    set upstream(port) {
      network.upstream = port
    },
    heal: () => {
      healed = true
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => proxy.close(resolve))
    },
  }
}
