import { Buffer } from 'node:buffer'

/** Writes the fields of one protobuf message. As proto3 does, it leaves out what is zero or empty. */
export class ProtoWriter {
  readonly #parts: Uint8Array[] = []

  /** A whole number from 0 to 2^53. */
  number(field: number, value: number): this {
    if (value !== 0) this.#parts.push(varint(field * 8), varint(value))
    return this
  }

  bool(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0)
  }

  bytes(field: number, value: Uint8Array): this {
    if (value.length > 0) this.#parts.push(varint(field * 8 + 2), varint(value.length), value)
    return this
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'))
  }

  /** An embedded message; written even when it is empty, because its presence means something. */
  message(field: number, value: Uint8Array): this {
    this.#parts.push(varint(field * 8 + 2), varint(value.length), value)
    return this
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

/** One field as it was read: a number for varints, bytes for everything with a length. */
export interface ProtoField {
  readonly field: number
  readonly number: number
  readonly bytes: Uint8Array
}

const noBytes = new Uint8Array(0)

/** The fields of a message in their order. Numbers beyond 2^53 lose precision; bytes are views on `message`. */
export function* readFields(message: Uint8Array): Generator<ProtoField, void, undefined> {
  let at = 0
  const readVarint = (): number => {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = message[at++]
      if (byte === undefined) throw new Error('a protobuf message ends early')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = readVarint()
    const field = tag >>> 3
    const type = tag & 7
    if (type === 0) {
      yield { field, number: readVarint(), bytes: noBytes }
      continue
    }
    const length = type === 2 ? readVarint() : type === 1 ? 8 : type === 5 ? 4 : -1
    if (length < 0 || at + length > message.length) throw new Error('a protobuf message is malformed')
    yield { field, number: 0, bytes: message.subarray(at, at + length) }
    at += length
  }
}

export function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}
