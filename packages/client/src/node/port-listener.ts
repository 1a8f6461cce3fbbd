import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { ObjectKey } from '@coxswain/apimachinery/meta'
import { type Logger, silentLogger } from '@coxswain/kit'
import type { Client } from '../client.ts'
import { forwardPort } from '../streams/port-forward.ts'

/** Options of {@link listenForwarded}. */
export interface ListenForwardedOptions {
  /** Of the Pod. */
  readonly port: number
  /** Of this machine; 0 picks a free one. @default 0 */
  readonly localPort?: number
  /** @default '127.0.0.1' */
  readonly host?: string
  /** Called for connections that fail. @default ignored */
  readonly log?: Logger
}

/** A local port that is forwarded to a Pod. */
export interface ForwardedPort extends AsyncDisposable {
  readonly host: string
  readonly port: number
}

/** Listens on a port of this machine and hands every connection on to a port of a Pod, as `kubectl port-forward` does. */
export async function listenForwarded(
  client: Client,
  pod: ObjectKey,
  options: ListenForwardedOptions,
): Promise<ForwardedPort> {
  const { port, localPort = 0, host = '127.0.0.1', log = silentLogger } = options
  const sockets = new Set<Socket>()
  const carrying = new Set<Promise<void>>()
  const server = createServer({ allowHalfOpen: false }, socket => {
    sockets.add(socket)
    socket.on('error', () => {}) // 'close' follows
    const carried = carry(client, pod, port, socket)
      .catch(error => log.warn('a forwarded connection broke', { error, port }))
      .finally(() => {
        socket.destroy()
        sockets.delete(socket)
        carrying.delete(carried)
      })
    carrying.add(carried)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(localPort, host, resolve)
  })
  return {
    host,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
      await Promise.all(carrying)
    },
  }
}

/** Resolves when either side has ended. */
async function carry(client: Client, pod: ObjectKey, port: number, socket: Socket): Promise<void> {
  await using connection = await forwardPort(client, pod, port)
  const up = async (): Promise<void> => {
    for await (const chunk of socket) await connection.write(chunk)
  }
  const down = async (): Promise<void> => {
    for await (const chunk of connection.data) {
      if (socket.destroyed) return
      if (!socket.write(chunk)) await drained(socket)
    }
    await new Promise<void>(resolve => socket.end(resolve))
  }
  await Promise.race([up().catch(() => {}), down()])
}

function drained(socket: Socket): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
