import { Buffer } from 'node:buffer'

/** Writes numbers, ASCII strings and bytes one after the other into its own buffer. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

  constructor(capacity: number) {
    this.#buffer = Buffer.from(new ArrayBuffer(capacity))
  }

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  /** Any number; integers are exact up to 2^53. */
  number(value: number): void {
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  text(value: string): void {
    this.#reserve(4 + value.length)
    this.#length = this.#buffer.writeUInt32LE(value.length, this.#length)
    this.#length += this.#buffer.write(value, this.#length, 'latin1')
  }

  bytes(value: Uint8Array): void {
    this.#reserve(4 + value.length)
    this.#length = this.#buffer.writeUInt32LE(value.length, this.#length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
  }

  /** The written bytes, in a buffer that can be transferred to another thread. Nothing may be written afterwards. */
  finish(): ArrayBuffer {
    const { buffer } = this.#buffer
    return (buffer as ArrayBuffer).transfer(this.#length)
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#buffer.length) return
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, this.#buffer.length * 2)))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

/** Reads what a {@link ByteWriter} wrote. Bytes are views, not copies. */
export class ByteReader {
  readonly #buffer: Buffer
  #at = 0

  constructor(buffer: ArrayBuffer) {
    this.#buffer = Buffer.from(buffer)
  }

  get done(): boolean {
    return this.#at >= this.#buffer.length
  }

  byte(): number {
    return this.#buffer[this.#at++]!
  }

  number(): number {
    const value = this.#buffer.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  text(): string {
    const length = this.#length()
    const value = this.#buffer.toString('latin1', this.#at, this.#at + length)
    this.#at += length
    return value
  }

  bytes(): Uint8Array {
    const length = this.#length()
    const { buffer, byteOffset } = this.#buffer
    const value = new Uint8Array(buffer, byteOffset + this.#at, length)
    this.#at += length
    return value
  }

  #length(): number {
    const length = this.#buffer.readUInt32LE(this.#at)
    this.#at += 4
    return length
  }
}
