import type { BodyRefusal } from '../../message.ts'
import type { BodyBudget } from './body-budget.ts'

export interface BodyBufferOptions {
  readonly budget: BodyBudget
  /** The owner that the bytes are counted for. */
  readonly owner: string
  /** Longest body. */
  readonly limit: number
  /** The Content-Length, if the client sent one. */
  readonly declared: number | undefined
}

/** The minimum growth. */
const least = 16 * 1024

/**
 * A body as it arrives, in one growing buffer. A list of chunks would cost an object for each, and a client may send a
 * byte at a time; a chunk may also be a small part of the buffer that it was read into, which it would keep alive.
 */
export class BodyBuffer {
  readonly #options: BodyBufferOptions
  #bytes: Uint8Array = new Uint8Array()
  #length = 0
  /** Taken from the budget. */
  #charged = 0

  constructor(options: BodyBufferOptions) {
    this.#options = options
  }

  /** Returns the reason when the chunk cannot be kept. */
  add(chunk: Uint8Array): BodyRefusal | undefined {
    const length = this.#length + chunk.length
    if (length > this.#options.limit) return 'too large'
    if (this.#length === 0 && chunk.buffer.byteLength <= 2 * chunk.length) {
      if (!this.#charge(chunk.buffer.byteLength)) return 'no room'
      this.#bytes = chunk
    } else {
      if (length > this.#bytes.length && !this.#grow(length)) return 'no room'
      this.#bytes.set(chunk, this.#length)
    }
    this.#length = length
    return undefined
  }

  /** The whole body; it still has to be released. */
  get bytes(): Uint8Array {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }

  /** To be called when the bytes are no longer used. */
  release(): void {
    this.#options.budget.give(this.#options.owner, this.#charged)
    this.#charged = 0
    this.#bytes = new Uint8Array()
    this.#length = 0
  }

  #grow(length: number): boolean {
    const { declared, limit } = this.#options
    const expected = declared === undefined ? limit : Math.min(declared, limit)
    const size = Math.max(length, Math.min(expected, Math.max(2 * this.#bytes.length, least)))
    if (!this.#charge(size)) return false
    const grown = Buffer.allocUnsafeSlow(size)
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
    return true
  }

  #charge(size: number): boolean {
    const { budget, owner } = this.#options
    if (!budget.take(owner, size - this.#charged)) return false
    this.#charged = size
    return true
  }
}
