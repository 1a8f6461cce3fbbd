import type { MessagePort } from 'node:worker_threads'
import { isStream, readBody } from '../../body.ts'
import { isTransportError } from '../../errors.ts'
import type { Transport } from '../../message.ts'
import {
  type Answer,
  type ClientMessage,
  chunksInFlight,
  createBatch,
  receiveBatches,
  type ServerMessage,
  type ThreadRequest,
} from './messages.ts'

/**
 * Answers the requests of a `createThreadTransport` at the other end of the port, until that closes. `transport` provides the responses, whose
 * bytes are only read.
 */
export function serveThread(port: MessagePort, transport: Transport): void {
  const calls = new Map<number, Call>()
  const post = createBatch<ServerMessage>(port)
  receiveBatches<ClientMessage>(port, message => {
    const { id } = message
    if ('request' in message) {
      const call = new Call(answer => post({ id, ...answer }))
      calls.set(id, call)
      call.run(transport, message.request, message.bytes).finally(() => calls.delete(id))
    } else if ('taken' in message) calls.get(id)?.take(message.taken)
    else calls.get(id)?.leave()
  })
  port.on('close', () => {
    for (const call of calls.values()) call.leave()
  })
}

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
  async run(transport: Transport, request: ThreadRequest, body: Uint8Array | undefined): Promise<void> {
    const { signal } = this.#abort
    try {
      const response = await transport.send({ ...request, ...(body && { body }), signal })
      const { status, headers } = response
      if (isStream(response.body)) {
        this.#post({ status, headers })
        for await (const bytes of response.body) {
          if (signal.aborted) return
          this.#post({ bytes })
          this.#inFlight++
          await this.#room()
        }
        this.#post({ ended: true })
      } else {
        this.#post({ status, headers, bytes: await readBody(response.body) })
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
