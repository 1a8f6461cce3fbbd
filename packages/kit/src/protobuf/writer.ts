import { encodeText } from '../bytes.ts'

/**
 * Writes protobuf backwards, so that the length of a nested message is known when its prefix is written and nothing is measured
 * twice. Callers write the last field first.
 */
export class BackwardWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1024)
  /** Where the next byte ends; everything from here on is written. */
  #at = 1024

  /** Bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#at
  }

  /** A copy of what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(this.#at)
  }

  byte(value: number): void {
    if (this.#at === 0) this.#grow(1)
    this.#bytes[--this.#at] = value
  }

  bytes(value: Uint8Array): void {
    if (this.#at < value.length) this.#grow(value.length)
    this.#at -= value.length
    this.#bytes.set(value, this.#at)
  }

  text(value: string): number {
    const most = value.length * 3
    if (this.#at < most) this.#grow(most)
    const { length } = value
    const start = this.#at - length
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return this.#encoded(value)
      this.#bytes[start + i] = code
    }
    this.#at = start
    return length
  }

  tag(number: number, wireType: number): void {
    this.varint(number * 8 + wireType)
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    if (value < 0x80) {
      this.byte(value)
      return
    }
    let size = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
    if (this.#at < size) this.#grow(size)
    this.#at -= size
    let rest = value
    for (let i = 0; i < size; i++) {
      const low = rest % 0x80
      rest = Math.floor(rest / 0x80)
      this.#bytes[this.#at + i] = rest > 0 ? low | 0x80 : low
    }
  }

  /** A signed 64-bit number; a negative one takes ten bytes. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value)
      return
    }
    let rest = BigInt.asUintN(64, BigInt(value))
    const groups: number[] = []
    do {
      const low = Number(rest & 0x7fn)
      rest >>= 7n
      groups.push(rest > 0n ? low | 0x80 : low)
    } while (rest > 0n)
    for (let i = groups.length - 1; i >= 0; i--) this.byte(groups[i] ?? 0)
  }

  float64(value: number): void {
    const buffer = new Uint8Array(8)
    new DataView(buffer.buffer).setFloat64(0, value, true)
    this.bytes(buffer)
  }

  #encoded(value: string): number {
    const encoded = encodeText(value)
    this.#at -= encoded.length
    this.#bytes.set(encoded, this.#at)
    return encoded.length
  }

  #grow(needed: number): void {
    const used = this.length
    const size = Math.max(this.#bytes.length * 2, used + needed + 64)
    const grown = new Uint8Array(size)
    grown.set(this.#bytes.subarray(this.#at), size - used)
    this.#bytes = grown
    this.#at = size - used
  }
}
