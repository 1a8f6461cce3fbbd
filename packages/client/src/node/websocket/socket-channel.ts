import type { Duplex } from 'node:stream'
import { AsyncQueue } from '@coxswain/kit'
import { TransportError } from '@coxswain/wire'
import { closePayload, encodeFrame, FrameReader, opcodes } from '@coxswain/wire/websocket'
import type { MessageChannel } from '../../streams/message-channel.ts'

const maxMessageBytes = 64 * 1024 * 1024
/** The most unread messages before the peer is blocked. */
const waitingLimit = 64
/** How long the peer may take to answer a close. */
const closeTimeout = 5_000

/** A WebSocket on a connection whose handshake is done, from the client's side. */
export class SocketChannel implements MessageChannel {
  readonly protocol: string
  readonly #socket: Duplex
  readonly #received = new AsyncQueue<Uint8Array>()
  readonly #closed = Promise.withResolvers<void>()
  #peerClosed = false
  #closing = false

  constructor(socket: Duplex, protocol: string, head: Uint8Array) {
    this.#socket = socket
    this.protocol = protocol
    const reader = new FrameReader(
      {
        onMessage: message => {
          this.#received.push(message)
          if (this.#received.size >= waitingLimit) socket.pause()
        },
        onControl: (opcode, payload) => this.#onControl(opcode, payload),
        onError: reason => {
          const cause = new Error(reason)
          this.#received.fail(
            new TransportError('BadMessage', 'the peer sent an invalid WebSocket frame', { cause }),
          )
          socket.destroy()
        },
      },
      { from: 'server', maxMessageBytes },
    )
    socket.on('data', (chunk: Uint8Array) => reader.push(chunk))
    socket.on('error', () => {}) // 'close' follows
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      if (this.#peerClosed || this.#closing) this.#received.end()
      else this.#received.fail(new TransportError('ConnectionLost', 'the connection broke'))
      this.#closed.resolve()
    })
    if (head.length > 0) reader.push(head)
  }

  get messages(): AsyncIterable<Uint8Array> {
    return this.#read()
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const message of this.#received) {
      if (this.#received.size < waitingLimit) this.#socket.resume()
      yield message
    }
  }

  async send(message: Uint8Array): Promise<void> {
    const socket = this.#socket
    if (this.#closing || this.#peerClosed || socket.destroyed)
      throw new TransportError('ConnectionLost', 'the connection is closed', { sent: false })
    if (socket.write(encodeFrame(opcodes.binary, message, newMask()))) return
    await new Promise<void>(resolve => {
      const done = (): void => {
        socket.off('drain', done).off('close', done)
        resolve()
      }
      socket.on('drain', done).on('close', done)
    })
  }

  async close(): Promise<void> {
    if (!this.#closing && !this.#socket.destroyed) {
      this.#closing = true
      this.#socket.resume()
      this.#socket.write(encodeFrame(opcodes.close, closePayload(1000), newMask()))
      const timer = setTimeout(() => this.#socket.destroy(), closeTimeout)
      this.#closed.promise.then(() => clearTimeout(timer))
      if (this.#peerClosed) this.#socket.end()
    }
    await this.#closed.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true
    this.#socket.destroy()
    await this.#closed.promise
  }

  #onControl(opcode: number, payload: Uint8Array): void {
    if (opcode === opcodes.ping) this.#socket.write(encodeFrame(opcodes.pong, payload, newMask()))
    if (opcode !== opcodes.close) return
    this.#peerClosed = true
    if (!this.#closing) this.#socket.write(encodeFrame(opcodes.close, payload.subarray(0, 2), newMask()))
    this.#socket.end()
  }
}

function newMask(): Uint8Array {
  return process.getBuiltinModule('node:crypto').randomBytes(4)
}
