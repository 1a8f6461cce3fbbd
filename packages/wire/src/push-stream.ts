/** Receives the chunks of a {@link PushStream} as they arrive. */
export interface ChunkReceiver {
  /** False: further chunks wait in the stream until `resume`. */
  chunk(bytes: Uint8Array): boolean
  /** No more chunks follow. */
  end(): void
}

/** Options of a {@link PushStream}. */
export interface PushStreamOptions {
  /** The maximum number of buffered bytes. */
  readonly limit: number
  /** Called once, when the reader leaves before the end. */
  readonly onLeave: () => void
  /** Chunks before those that are pushed; created when the reader can take them, so that they need no limit. */
  readonly prelude?: Iterator<Uint8Array>
}

/** Chunks taken one by one are released from memory in batches of at least this many. */
const compactAt = 64

/**
 * A streamed body whose chunks are pushed. Like every body it can be iterated; a transport that can take
 * chunks synchronously attaches a receiver instead, and a chunk for a thousand readers is a thousand calls, not a thousand
 * promises. One reader, in one of the two ways.
 */
export class PushStream implements AsyncIterable<Uint8Array> {
  readonly #limit: number
  readonly #onLeave: () => void
  /** Undefined once it has been sent. */
  #prelude: Iterator<Uint8Array> | undefined
  /** Buffered chunks start at `#head`; those before it were taken. */
  #waiting: Uint8Array[] = []
  #head = 0
  /** Buffered bytes. */
  #pending = 0
  #receiver: ChunkReceiver | undefined
  /** The receiver has asked to wait. */
  #paused = false
  #ended = false
  readonly #onFinished: (() => void)[] = []
  #wake: (() => void) | undefined

  constructor(options: PushStreamOptions) {
    this.#limit = options.limit
    this.#onLeave = options.onLeave
    this.#prelude = options.prelude
  }

  /** Buffered bytes. */
  get pending(): number {
    return this.#pending
  }

  /** False, and nothing is added, after the end and when the buffer is full. */
  push(chunk: Uint8Array): boolean {
    if (this.#ended) return false
    if (this.#receiver && !this.#paused) {
      this.#paused = !this.#receiver.chunk(chunk)
      return true
    }
    if (this.#pending + chunk.length > this.#limit) return false
    this.#waiting.push(chunk)
    this.#pending += chunk.length
    this.#notify()
    return true
  }

  /** Ends the stream: the reader gets the buffered chunks, then the end. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    for (const callback of this.#onFinished) callback()
    if (this.#receiver && !this.#paused) this.#receiver.end()
    this.#notify()
  }

  /** Calls back once when the stream has ended or its reader has left; at once when that has happened. There may be several callbacks. */
  onFinished(callback: () => void): void {
    if (this.#ended) callback()
    else this.#onFinished.push(callback)
  }

  /** Delivers chunks to `receiver` from now on, buffered ones at once. */
  attach(receiver: ChunkReceiver): void {
    this.#receiver = receiver
    this.resume()
  }

  /** The receiver can take chunks again. */
  resume(): void {
    const receiver = this.#receiver
    if (!receiver) return
    this.#paused = false
    for (let chunk = this.#take(); chunk; chunk = this.#take()) {
      if (receiver.chunk(chunk)) continue
      this.#paused = true
      return
    }
    if (this.#ended) receiver.end()
  }

  /** The reader leaves: buffered chunks are dropped, and no more are accepted. */
  leave(): void {
    this.#receiver = undefined
    this.#prelude = undefined
    this.#waiting = []
    this.#head = 0
    this.#pending = 0
    if (this.#ended) return
    this.#ended = true
    for (const callback of this.#onFinished) callback()
    this.#onLeave()
    this.#notify()
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array, undefined> {
    const iterator: AsyncIterableIterator<Uint8Array, undefined> = {
      next: async () => {
        for (;;) {
          const chunk = this.#take()
          if (chunk) return { done: false, value: chunk }
          if (this.#ended) return { done: true, value: undefined }
          await new Promise<void>(resolve => {
            this.#wake = resolve
          })
        }
      },
      return: async () => {
        this.leave()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]: () => iterator,
    }
    return iterator
  }

  #take(): Uint8Array | undefined {
    const first = this.#prelude?.next()
    if (first && !first.done) return first.value
    this.#prelude = undefined
    const chunk = this.#waiting[this.#head]
    if (!chunk) return undefined
    this.#pending -= chunk.length
    this.#head++
    if (this.#head === this.#waiting.length) {
      this.#waiting = []
      this.#head = 0
    } else if (this.#head >= compactAt && this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
    return chunk
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

/** Whether a body's chunks can be received without a promise each. */
export function isPushStream(body: unknown): body is PushStream {
  return typeof body === 'object' && body !== null && 'attach' in body && 'resume' in body
}
