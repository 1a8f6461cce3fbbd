import type { Clock } from '@coxswain/kit'
import { isStream, type WireResponse } from '@coxswain/wire'

/** Silence that counts as the end of all activity: longer than any hand-off between parts of one process. */
const quietPeriod = 100
const patience = 10_000

/** Whether requests are in progress. Open streams do not count, opening one does. */
export class Activity {
  readonly #clock: Clock
  #open = 0
  #last: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#last = clock.monotonic()
  }

  async during(answer: () => Promise<WireResponse>): Promise<WireResponse> {
    this.#open++
    try {
      const response = await answer()
      return isStream(response.body) ? { ...response, body: this.#noting(response.body) } : response
    } finally {
      this.#open--
      this.#last = this.#clock.monotonic()
    }
  }

  /** Resolves after a while without requests, answers and events; rejects when there is none. */
  async ceased(): Promise<void> {
    const begin = this.#clock.monotonic()
    this.#last = Math.max(this.#last, begin - quietPeriod / 2)
    for (;;) {
      const now = this.#clock.monotonic()
      const left = this.#open > 0 ? quietPeriod / 4 : this.#last + quietPeriod - now
      if (left <= 0) return
      if (now - begin > patience) throw new Error(`the cluster is still busy after ${patience} ms`)
      await this.#clock.sleep(left)
    }
  }

  async *#noting(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      this.#last = this.#clock.monotonic()
      yield chunk
    }
  }
}
