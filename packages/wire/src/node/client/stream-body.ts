import type { Readable } from 'node:stream'

/** Bytes that are buffered for a reader before the sender has to pause. */
const highWater = 256 * 1024

/** What the body of a response needs to know about its stream. */
export interface BodySource {
  readonly stream: Readable
  /** Aborts the exchange; called when the reader leaves early. */
  readonly cancel: () => void
  /** At the stream's end: why it ended early; undefined when the body is complete. */
  readonly truncated: () => unknown
  /** Why the stream failed. */
  readonly reason: () => unknown
}

/**
 * A readable stream as chunks, without the cost of Node's own iterator: buffered chunks are taken without waiting.
 * Chunks that arrived before a failure are read first, then the failure is thrown.
 */
export class StreamBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: BodySource
  #chunks: Uint8Array[] = []
  #next = 0
  #bytes = 0
  #ended: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(source: BodySource) {
    this.#source = source
    const { stream } = source
    stream.on('data', (chunk: Buffer) => this.#onData(chunk))
    stream.on('end', () => {
      const error = source.truncated()
      this.#end(error === undefined ? {} : { error })
    })
    stream.on('error', () => this.#end({ error: source.reason() }))
    stream.on('close', () => this.#end({ error: source.reason() }))
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk = this.#chunks[this.#next]
      if (chunk) {
        this.#take(chunk)
        return { value: chunk, done: false }
      }
      if (this.#ended) {
        if (!('error' in this.#ended)) return { value: undefined, done: true }
        const { error } = this.#ended
        this.#ended = {}
        throw error
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const early = this.#ended === undefined
    this.#end({})
    this.#ended = {}
    this.#chunks = []
    this.#next = 0
    if (early) this.#source.cancel()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #onData(chunk: Buffer): void {
    if (this.#ended) return
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes >= highWater) this.#source.stream.pause()
    this.#wake?.()
  }

  #take(chunk: Uint8Array): void {
    this.#next++
    this.#bytes -= chunk.length
    if (this.#next === this.#chunks.length) {
      this.#chunks = []
      this.#next = 0
    }
    if (this.#bytes < highWater && this.#source.stream.isPaused()) this.#source.stream.resume()
  }

  #end(ended: { readonly error?: unknown }): void {
    this.#ended ??= ended
    this.#wake?.()
  }
}
