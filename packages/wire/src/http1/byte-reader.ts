import { joinChunks } from '../body.ts'
import { TransportError } from '../errors.ts'

const nothing = new Uint8Array(0)
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Reads lines and byte ranges from chunks that may be cut anywhere. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  /** Received and not yet taken. */
  #buffer: Uint8Array = nothing

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next line, without its end, one character per byte; undefined at the end. */
  async readLine(limit: number): Promise<string | undefined> {
    let searched = 0
    for (;;) {
      const at = this.#buffer.indexOf(lineFeed, searched)
      if (at > limit || (at < 0 && this.#buffer.length > limit))
        throw new TransportError('BadMessage', 'a line of the response is too long')
      if (at >= 0) {
        const end = at > 0 && this.#buffer[at - 1] === carriageReturn ? at - 1 : at
        const line = latin1(this.#buffer.subarray(0, end))
        this.#buffer = this.#buffer.subarray(at + 1)
        return line
      }
      searched = this.#buffer.length
      const chunk = await this.#next()
      if (!chunk) {
        if (this.#buffer.length > 0) throw brokenOff()
        return undefined
      }
      this.#buffer = this.#buffer.length === 0 ? chunk : joinChunks([this.#buffer, chunk])
    }
  }

  /** At most `most` bytes; undefined at the end. */
  async take(most: number = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    if (this.#buffer.length === 0) {
      const chunk = await this.#next()
      if (!chunk) return undefined
      this.#buffer = chunk
    }
    const taken = this.#buffer.subarray(0, most)
    this.#buffer = this.#buffer.subarray(taken.length)
    return taken
  }

  /** The next non-empty chunk. */
  async #next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { value, done } = await this.#source.next()
      if (done) return undefined
      if (value.length > 0) return value
    }
  }
}

export function brokenOff(): TransportError {
  return new TransportError('ConnectionLost', 'unexpected EOF')
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
