import type { MessagePort } from 'node:worker_threads'
import { ChunkStream } from '../../chunk-stream.ts'
import { TransportError } from '../../errors.ts'
import type { Transport, WireRequest, WireResponse } from '../../message.ts'
import { type ClientMessage, chunksTold, createBatch, type ServerMessage } from './messages.ts'

/**
 * A connection to a server on another thread, where {@link serveThread} has the other end of the port.
 *
 *   thread of the client                      thread of the server
 *   createThreadTransport(port) --requests--> serveThread(port, transport)
 *                               <--answers---
 *
 * Disposing it closes the port: what is under way fails here, and is aborted there.
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
  port.on('message', (batch: readonly ServerMessage[]) => {
    for (const message of batch) if (calls.get(message.id)?.receive(message)) calls.delete(message.id)
  })
  port.on('close', () => close(new TransportError('ConnectionLost', 'the thread of the server has ended')))

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
        onLeave: () => leave(new TransportError('ConnectionLost', 'the client has left')),
        onTaken: taken => post({ id, taken }),
        onEnd: () => request.signal.removeEventListener('abort', onAbort),
      })
      calls.set(id, call)
      request.signal.addEventListener('abort', onAbort, { once: true })
      post({ id, request: pick(request) })
      return await call.answer
    },
    async [Symbol.asyncDispose]() {
      close(new TransportError('Closed', 'the transport is closed', { sent: false }))
      port.close()
    },
  }
}

/** What crosses: of a view of a larger buffer, only what it shows. */
function pick({ method, path, query, headers, body }: WireRequest) {
  const isView = body !== undefined && body.byteLength !== body.buffer.byteLength
  return { method, path, query, headers, ...(body && { body: isView ? new Uint8Array(body) : body }) }
}

interface CallEvents {
  /** The reader of a stream leaves before its end. */
  readonly onLeave: () => void
  readonly onTaken: (count: number) => void
  readonly onEnd: () => void
}

/** A request that waits for its answer, or for the rest of it. */
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
    if ('chunk' in message) {
      this.#stream?.deliver(message.chunk)
      return false
    }
    if ('status' in message) {
      const { status, headers, body } = message
      if (body === undefined) this.#stream = new ChunkStream(this.#events.onLeave, () => this.#take())
      this.#answer.resolve({ status, headers, body: body ?? this.#stream! })
      if (body === undefined) return false
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
