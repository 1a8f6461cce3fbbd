import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { AsyncQueue, encodeText } from '@coxswain/kit'
import { acceptKey } from '@coxswain/wire/node/client'
import { closePayload, encodeFrame, FrameReader, opcodes } from '@coxswain/wire/websocket'

/** One upgraded connection as the server sees it. */
export interface ServedChannel {
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  /** What the client sends. */
  readonly messages: AsyncIterable<Uint8Array>
  /** `channel` and data. */
  send(channel: number, data: Uint8Array | string): void
  /** Ends with a close frame. */
  close(): void
  /** Breaks the connection. */
  destroy(): void
  /** Sends these bytes, whatever they are. */
  raw(bytes: Uint8Array): void
}

export interface FakeKubelet extends AsyncDisposable {
  readonly url: string
}

export interface FakeKubeletOptions {
  /** Newest first. @default v5 */
  readonly protocols?: readonly string[]
  /** Answers instead of upgrading. */
  readonly refuse?: (
    request: IncomingMessage,
  ) => { readonly status: number; readonly body: string } | undefined
  readonly serve: (channel: ServedChannel) => Promise<void> | void
}

/** Serves exec, attach and port-forward over WebSocket, as far as a test scripts it. */
export async function startFakeKubelet(options: FakeKubeletOptions): Promise<FakeKubelet> {
  const { protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'], refuse, serve } = options
  const sockets = new Set<Duplex>()
  const server = createServer()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const refusal = refuse?.(request)
    if (refusal) {
      const { status, body } = refusal
      socket.end(
        `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      )
      return
    }
    const offered = String(request.headers['sec-websocket-protocol']).split(', ')
    const protocol = protocols.find(each => offered.includes(each)) ?? 'none'
    const accept = acceptKey(request.headers['sec-websocket-key'] ?? '')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: ${protocol}\r\n\r\n`,
    )
    serveChannel(request, socket, serve)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function serveChannel(request: IncomingMessage, socket: Duplex, serve: FakeKubeletOptions['serve']): void {
  const messages = new AsyncQueue<Uint8Array>()
  const parser = new FrameReader(
    {
      onMessage: message => messages.push(message),
      onControl: opcode => {
        if (opcode !== opcodes.close) return
        if (!socket.writableEnded) socket.end(encodeFrame(opcodes.close, closePayload(1000)))
      },
      onError: () => socket.destroy(),
    },
    { from: 'client' },
  )
  socket.on('data', (chunk: Uint8Array) => parser.push(chunk))
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  socket.on('close', () => messages.end())
  const served = serve({
    url: new URL(request.url ?? '/', 'http://fake'),
    headers: request.headers,
    messages,
    send(channel, data) {
      const bytes = typeof data === 'string' ? encodeText(data) : data
      const message = new Uint8Array(bytes.length + 1)
      message[0] = channel
      message.set(bytes, 1)
      socket.write(encodeFrame(opcodes.binary, message))
    },
    close: () => void socket.end(encodeFrame(opcodes.close, closePayload(1000))),
    destroy: () => void socket.destroy(),
    raw: bytes => void socket.write(bytes),
  })
  Promise.resolve(served).catch(() => socket.destroy())
}
