import { AsyncQueue } from '@coxswain/kit'

/** The most bytes that are kept of a stream that is not read. */
const unreadLimit = 1024 * 1024
/** How much waits for a reader that is slower than the server before the server is held back. */
const readLimit = 4 * 1024 * 1024

/** One of several streams that share a connection. The connection is held back for a slow reader, not for an absent one. */
export class OutputStream implements AsyncIterable<Uint8Array> {
  readonly #queue = new AsyncQueue<Uint8Array>()
  #bytes = 0
  #isRead = false
  #wake: (() => void) | undefined

  /** Resolves when there is room for more. */
  async push(chunk: Uint8Array): Promise<void> {
    if (this.#queue.ended || chunk.length === 0) return
    if (!this.#isRead && this.#bytes + chunk.length > unreadLimit) return
    this.#bytes += chunk.length
    this.#queue.push(chunk)
    while (this.#isRead && this.#bytes > readLimit && !this.#queue.ended) {
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  end(): void {
    this.#queue.end()
    this.#roomMade()
  }

  fail(error: unknown): void {
    this.#queue.fail(error)
    this.#roomMade()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    this.#isRead = true
    try {
      for await (const chunk of this.#queue) {
        this.#bytes -= chunk.length
        if (this.#bytes <= readLimit) this.#roomMade()
        yield chunk
      }
    } finally {
      this.#roomMade()
    }
  }

  #roomMade(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}
