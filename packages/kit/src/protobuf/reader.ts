/** Reads protobuf's primitive types from a buffer, and throws on malformed input. */
export class ProtobufReader {
  readonly #bytes: Uint8Array
  readonly #malformed: (reason: string) => Error
  /** Where the message that is being read ends. */
  #end: number
  #at = 0

  /** `malformed` makes the error to throw. */
  constructor(bytes: Uint8Array, malformed: (reason: string) => Error = createError) {
    this.#bytes = bytes
    this.#malformed = malformed
    this.#end = bytes.length
  }

  get done(): boolean {
    return this.#at >= this.#end
  }

  /** An unsigned number up to 2^53; longer ones are rejected. For tags and lengths. */
  varint(): number {
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
    throw this.#malformed('integer overflow')
  }

  /** A signed 64-bit number: a bigint only if a number would not be exact. */
  int64(): number | bigint {
    let low = 0
    let high = 0
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte()
      const bits = byte & 0x7f
      if (i < 4) low += bits * 2 ** (7 * i)
      else if (i === 4) {
        low += (bits & 0x0f) * 2 ** 28
        high += bits >> 4
      } else high += bits * 2 ** (7 * i - 32)
      if (byte >= 0x80) continue
      // Bits beyond the 64th, of the tenth byte, do not count.
      high %= 2 ** 32
      const signed = high >= 2 ** 31 ? high - 2 ** 32 : high
      const value = signed * 2 ** 32 + low
      return Number.isSafeInteger(value) ? value : (BigInt(signed) << 32n) + BigInt(low)
    }
    throw this.#malformed('integer overflow')
  }

  float64(): number {
    const start = this.#take(8)
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, 8).getFloat64(0, true)
  }

  /** A part of the input, not a copy. */
  bytes(): Uint8Array {
    const size = this.varint()
    const start = this.#take(size)
    return this.#bytes.subarray(start, start + size)
  }

  string(): string {
    const size = this.varint()
    const start = this.#take(size)
    let text = ''
    if (size > 32) return decoder.decode(this.#bytes.subarray(start, start + size))
    for (let i = start; i < start + size; i++) {
      const code = this.#bytes[i] ?? 0
      if (code > 0x7f) return decoder.decode(this.#bytes.subarray(start, start + size))
      text += String.fromCharCode(code)
    }
    return text
  }

  /** Enters a nested message. Returns the argument for `leave`. */
  enter(): number {
    const size = this.varint()
    const outer = this.#end
    if (size > outer - this.#at) throw this.#malformed('unexpected EOF')
    this.#end = this.#at + size
    return outer
  }

  /** Continues after a nested message. */
  leave(outer: number): void {
    this.#end = outer
  }

  /** Skips a field of an unknown type. */
  skip(wireType: number): void {
    switch (wireType) {
      case 0:
        this.int64()
        break
      case 1:
        this.#take(8)
        break
      case 2:
        this.#take(this.varint())
        break
      case 3:
        this.#skipGroup()
        break
      case 5:
        this.#take(4)
        break
      default:
        throw this.#malformed(`illegal wireType ${wireType}`)
    }
  }

  #skipGroup(): void {
    for (let open = 1; open > 0; ) {
      const wireType = this.varint() % 8
      if (wireType === 3) open++
      else if (wireType === 4) open--
      else this.skip(wireType)
    }
  }

  #byte(): number {
    if (this.#at >= this.#end) throw this.#malformed('unexpected EOF')
    return this.#bytes[this.#at++] ?? 0
  }

  #take(size: number): number {
    const start = this.#at
    if (size > this.#end - start) throw this.#malformed('unexpected EOF')
    this.#at = start + size
    return start
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // a byte order mark is a part of the text

function createError(reason: string): Error {
  return new Error(`proto: ${reason}`)
}
