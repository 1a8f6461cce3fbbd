import type { MessagePort } from 'node:worker_threads'
import { isStream, joinChunks } from '../../body.ts'
import { isTransportError } from '../../errors.ts'
import type { Transport } from '../../message.ts'
import {
  type ClientMessage,
  chunksInFlight,
  createBatch,
  type ServerMessage,
  type ThreadRequest,
} from './messages.ts'

/** Answers what a `createThreadTransport` at the other end of the port asks, until that closes. `transport` is who knows the answers. */
export function serveThread(port: MessagePort, transport: Transport): void {
  const calls = new Map<number, Call>()
  const post = createBatch<ServerMessage>(port)
  const receive = (message: ClientMessage) => {
    const { id } = message
    if ('request' in message) {
      const call = new Call(answer => post({ id, ...answer }))
      calls.set(id, call)
      call.run(transport, message.request).finally(() => calls.delete(id))
    } else if ('taken' in message) calls.get(id)?.take(message.taken)
    else calls.get(id)?.leave()
  }
  port.on('message', (batch: readonly ClientMessage[]) => batch.forEach(receive))
  port.on('close', () => {
    for (const call of calls.values()) call.leave()
  })
}

type Answer = ServerMessage extends infer M ? (M extends unknown ? Omit<M, 'id'> : never) : never

class Call {
  readonly #post: (answer: Answer) => void
  readonly #abort = new AbortController()
  #inFlight = 0
  #wake: (() => void) | undefined

  constructor(post: (answer: Answer) => void) {
    this.#post = post
  }

  take(count: number): void {
    this.#inFlight -= count
    this.#wake?.()
  }

  leave(): void {
    this.#abort.abort()
    this.#wake?.()
  }

  /** Never rejects. */
  async run(transport: Transport, request: ThreadRequest): Promise<void> {
    const { signal } = this.#abort
    try {
      const { status, headers, body } = await transport.send({ ...request, signal })
      if (isStream(body)) {
        this.#post({ status, headers })
        for await (const chunk of body) {
          if (signal.aborted) return
          this.#post({ chunk: ownBytes(chunk) })
          this.#inFlight++
          await this.#room()
        }
        this.#post({ ended: true })
      } else {
        const whole = body instanceof Uint8Array ? body : joinChunks(body ?? [])
        this.#post({ status, headers, body: ownBytes(whole) })
      }
    } catch (error) {
      if (signal.aborted) return
      const { code, sent } = isTransportError(error)
        ? error
        : ({ code: 'ConnectionLost', sent: true } as const)
      this.#post({ failed: { code, message: (error as Error).message, sent } })
    }
  }

  async #room(): Promise<void> {
    while (this.#inFlight >= chunksInFlight && !this.#abort.signal.aborted) {
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }
}

/** A copy for the other thread takes the whole buffer behind a view along. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
