/** Chunks that may be in flight to a busy reader, like the buffers of a real connection. */
const chunksInFlight = 16

/** The reader's end of a streamed body. Chunks delivered before the end or the failure are read first. */
export class ChunkStream implements AsyncIterableIterator<Uint8Array> {
  readonly #onReturn: () => void
  readonly #onTaken: (() => void) | undefined
  readonly #chunks: Uint8Array[] = []
  /** Chunks that were sent and not yet taken by the reader. */
  #inFlight = 0
  #ended: { readonly error?: unknown } | undefined
  #released = false
  #wakeReader: (() => void) | undefined
  #wakeSender: (() => void) | undefined

  /** `onReturn` is called when the reader leaves before the end, `onTaken` when it takes a chunk. */
  constructor(onReturn: () => void, onTaken?: () => void) {
    this.#onReturn = onReturn
    this.#onTaken = onTaken
  }

  /** Records that a chunk is in flight. */
  sent(): void {
    this.#inFlight++
  }

  /** Resolves when another chunk may be sent, or after `release`. */
  async room(): Promise<void> {
    while (this.#inFlight >= chunksInFlight && !this.#released) {
      await new Promise<void>(resolve => {
        this.#wakeSender = resolve
      })
    }
  }

  /** The sender knows that the reader has left: it need not wait any more. */
  release(): void {
    this.#released = true
    this.#wakeSender?.()
  }

  deliver(chunk: Uint8Array): void {
    if (this.#ended) return
    this.#chunks.push(chunk)
    this.#wakeReader?.()
  }

  end(): void {
    this.#ended ??= {}
    this.#wakeReader?.()
  }

  fail(error: unknown): void {
    this.#ended ??= { error }
    this.#wakeReader?.()
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk) {
        this.#inFlight--
        this.#wakeSender?.()
        this.#onTaken?.()
        return { value: chunk, done: false }
      }
      if (this.#ended) {
        if (!('error' in this.#ended)) return { value: undefined, done: true }
        const { error } = this.#ended
        this.#ended = {}
        throw error
      }
      await new Promise<void>(resolve => {
        this.#wakeReader = resolve
      })
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const early = this.#ended === undefined
    this.#chunks.length = 0
    this.#ended = {}
    this.#wakeReader?.()
    if (early) this.#onReturn()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
