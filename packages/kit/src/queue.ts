/**
 * A bounded hand-over from a producer that must not wait to a consumer that iterates: the plumbing of every stream.
 * `push` tells whether there was room; what to do when there is none is the producer's business.
 */
export class AsyncQueue<T> implements AsyncIterable<T> {
  readonly #limit: number
  #items: T[] = []
  #wake: (() => void) | undefined
  #end: { readonly error?: unknown } | undefined

  /** `limit` counts items that wait. @default unlimited */
  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  get size(): number {
    return this.#items.length
  }

  get ended(): boolean {
    return this.#end !== undefined
  }

  /** False, and nothing is added, when the queue is full or has ended. */
  push(item: T): boolean {
    if (this.#end || this.#items.length >= this.#limit) return false
    this.#items.push(item)
    this.#notify()
    return true
  }

  /** No more items: the consumer sees those that wait, then the end. */
  end(): void {
    this.#end ??= {}
    this.#notify()
  }

  /** As `end`, but the consumer's iteration throws `error` after the items that wait. */
  fail(error: unknown): void {
    this.#end ??= { error }
    this.#notify()
  }

  /** Everything that waits, at once; undefined when the queue has ended. For one consumer at a time. */
  async takeAll(): Promise<T[] | undefined> {
    while (this.#items.length === 0) {
      if (this.#end) {
        if ('error' in this.#end) throw this.#end.error
        return undefined
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    const items = this.#items
    this.#items = []
    return items
  }

  /** For one consumer. Leaving the loop ends the queue. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (let items = await this.takeAll(); items; items = await this.takeAll()) yield* items
    } finally {
      this.end()
      this.#items = []
    }
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}
