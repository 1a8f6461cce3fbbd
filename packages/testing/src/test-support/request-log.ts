import { aborted, type Clock } from '@coxswain/kit'
import { isStream, type Transport, type WireRequest, type WireResponse } from '@coxswain/wire'
import type { Interceptor } from '../cluster.ts'

/** More requests within a second than a client that waits between its tries sends, even when some are pages. */
const stormSize = 25

/** What a client sends, and which of its streams are open at the server. */
export class RequestLog {
  readonly requests: { readonly time: number; readonly request: WireRequest }[] = []
  openStreams = 0
  storms = 0
  readonly #clock: Clock
  readonly #userAgent: string

  constructor(clock: Clock, userAgent: string) {
    this.#clock = clock
    this.#userAgent = userAgent
  }

  /** Stands before the client's transport. A storm is not let through: without a pause it might never end. */
  transport(inner: Transport): Transport {
    return {
      send: async request => {
        const time = this.#clock.monotonic()
        this.requests.push({ time, request })
        const earlier = this.requests.at(-stormSize)
        if (earlier && time - earlier.time < 1_000) {
          this.storms++
          await aborted(request.signal)
          throw request.signal.reason
        }
        return await inner.send(request)
      },
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    }
  }

  /** Stands before the server. */
  readonly interceptor: Interceptor = async (request, next) => {
    const response = await next(request)
    const isOurs = request.headers['user-agent'] === this.#userAgent
    return isOurs && isStream(response.body) ? this.#counting(response, response.body) : response
  }

  #counting(response: WireResponse, body: AsyncIterable<Uint8Array>): WireResponse {
    const counted = this.#count(body)
    return { ...response, body: counted }
  }

  async *#count(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    this.openStreams++
    try {
      yield* body
    } finally {
      this.openStreams--
    }
  }
}
