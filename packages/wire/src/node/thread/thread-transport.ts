import type { MessagePort } from 'node:worker_threads'
import { ChunkStream } from '../../chunk-stream.ts'
import { TransportError } from '../../errors.ts'
import type { Transport, WireResponse } from '../../message.ts'
import {
  type ClientMessage,
  chunksTold,
  createBatch,
  receiveBatches,
  type ServerMessage,
} from './messages.ts'

/**
 * A connection to a server on another thread, where {@link serveThread} has the other end of the port.
 *
 *   thread of the client                      thread of the server
 *   createThreadTransport(port) --requests--> serveThread(port, transport)
 *                               <--responses-
 *
 * Disposing it closes the port: requests in flight fail here, and are aborted there.
 */
export function createThreadTransport(port: MessagePort): Transport {
  const calls = new Map<number, Call>()
  let lastId = 0
  let closed: TransportError | undefined
  const post = createBatch<ClientMessage>(port)
  const close = (error: TransportError) => {
    closed ??= error
    for (const call of calls.values()) call.fail(closed)
    calls.clear()
  }
  receiveBatches<ServerMessage>(port, message => {
    if (calls.get(message.id)?.receive(message)) calls.delete(message.id)
  })
  port.on('close', () => close(new TransportError('ConnectionLost', 'the server thread has exited')))

  return {
    async send(request) {
      if (closed) throw closed
      request.signal.throwIfAborted()
      const id = ++lastId
      const onAbort = () => leave(request.signal.reason)
      const leave = (reason: unknown) => {
        if (!calls.delete(id)) return
        request.signal.removeEventListener('abort', onAbort)
        call.fail(reason)
        post({ id, gone: true })
      }
      const call = new Call({
        onLeave: () => leave(new TransportError('ConnectionLost', 'the client has disconnected')),
        onTaken: taken => post({ id, taken }),
        onEnd: () => request.signal.removeEventListener('abort', onAbort),
      })
      calls.set(id, call)
      request.signal.addEventListener('abort', onAbort, { once: true })
      const { method, path, query, headers, body } = request
      post({ id, request: { method, path, query, headers }, ...(body && { bytes: body }) })
      return await call.answer
    },
    async [Symbol.asyncDispose]() {
      close(new TransportError('Closed', 'the transport is closed', { sent: false }))
      port.close()
    },
  }
}

interface CallEvents {
  /** The reader of a stream leaves before its end. */
  readonly onLeave: () => void
  readonly onTaken: (count: number) => void
  readonly onEnd: () => void
}

/** A request that waits for its response, or for the rest of it. */
class Call {
  readonly #events: CallEvents
  readonly #answer = Promise.withResolvers<WireResponse>()
  #stream: ChunkStream | undefined
  #taken = 0

  constructor(events: CallEvents) {
    this.#events = events
  }

  get answer(): Promise<WireResponse> {
    return this.#answer.promise
  }

  /** Whether that was the last message. */
  receive(message: ServerMessage): boolean {
    if ('status' in message) {
      const { status, headers, bytes } = message
      if (bytes === undefined) this.#stream = new ChunkStream(this.#events.onLeave, () => this.#take())
      this.#answer.resolve({ status, headers, body: bytes ?? this.#stream! })
      if (bytes === undefined) return false
    } else if ('bytes' in message) {
      this.#stream?.deliver(message.bytes)
      return false
    } else if ('failed' in message) {
      const { code, message: text, sent } = message.failed
      this.fail(new TransportError(code, text, { sent }))
    } else this.#stream?.end()
    this.#events.onEnd()
    return true
  }

  fail(error: unknown): void {
    this.#answer.reject(error)
    this.#stream?.fail(error)
  }

  #take(): void {
    this.#taken++
    if (this.#taken < chunksTold) return
    this.#events.onTaken(this.#taken)
    this.#taken = 0
  }
}
