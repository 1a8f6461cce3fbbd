/** Items taken one by one are dropped from memory in batches of at least this many. */
const compactAt = 64

/**
 * A bounded queue from a producer that must not wait to a consumer that iterates: the basis of every stream. `push` returns
 * whether there was capacity; the producer decides what to do otherwise.
 */
export class AsyncQueue<T> implements AsyncIterable<T> {
  readonly #limit: number
  /** What waits starts at `#head`; what is before it was taken. */
  #items: T[] = []
  #head = 0
  #wake: (() => void) | undefined
  #room: { readonly below: number; readonly resolve: () => void } | undefined
  #end: { readonly error?: unknown } | undefined

  /** `limit` counts items that wait. @default unlimited */
  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  /** How many items wait. */
  get size(): number {
    return this.#items.length - this.#head
  }

  get ended(): boolean {
    return this.#end !== undefined
  }

  /** False, and nothing is added, when the queue is full or has ended. */
  push(item: T): boolean {
    if (this.#end || this.size >= this.#limit) return false
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

  /** Resolves when fewer than `below` items wait, or the queue has ended. For one producer at a time, which holds back meanwhile. */
  async room(below: number): Promise<void> {
    if (this.#end || this.size < below) return
    await new Promise<void>(resolve => {
      this.#room = { below, resolve }
    })
  }

  /** Everything that waits, at once; undefined when the queue has ended. For one consumer at a time. */
  async takeAll(): Promise<T[] | undefined> {
    if (this.size === 0 && !(await this.#filled())) return undefined
    const items = this.#head === 0 ? this.#items : this.#items.slice(this.#head)
    this.#clear()
    return items
  }

  /**
   * For one consumer at a time. Leaving the loop ends the queue and drops what waits; so does `return()` on an
   * iterator that has not begun or that waits in `next()`, which then gives the end.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    const iterator: AsyncIterableIterator<T, undefined> = {
      next: async () => {
        if (this.size === 0 && !(await this.#filled())) return { done: true, value: undefined }
        return { done: false, value: this.#take() }
      },
      return: async () => {
        this.end()
        this.#clear()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]: () => iterator,
    }
    return iterator
  }

  /** Waits for an item: true when there is one, false at the end. Throws what `fail` was given. */
  async #filled(): Promise<boolean> {
    while (this.size === 0) {
      if (this.#end) {
        if ('error' in this.#end) throw this.#end.error
        return false
      }
      if (this.#wake) throw new Error('an AsyncQueue has one consumer at a time')
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
    return true
  }

  #take(): T {
    const item = this.#items[this.#head++]!
    if (this.#head === this.#items.length) this.#clear()
    else if (this.#head >= compactAt && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    this.#tellOfRoom()
    return item
  }

  #clear(): void {
    this.#items = []
    this.#head = 0
    this.#tellOfRoom()
  }

  #tellOfRoom(): void {
    const room = this.#room
    if (!room || (!this.#end && this.size >= room.below)) return
    this.#room = undefined
    room.resolve()
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
    if (this.#room) this.#tellOfRoom()
  }
}
