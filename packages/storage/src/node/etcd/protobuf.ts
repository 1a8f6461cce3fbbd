import { encodeText } from '@coxswain/kit'
import { BackwardWriter, ProtobufReader } from '@coxswain/kit/protobuf'

/** Encodes the fields of one protobuf message. As in proto3, zero and empty values are omitted. */
export class ProtoWriter {
  readonly #fields: { readonly field: number; readonly value: number | Uint8Array }[] = []

  /** An integer from 0 to 2^53. */
  number(field: number, value: number): this {
    if (value !== 0) this.#fields.push({ field, value })
    return this
  }

  bool(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0)
  }

  bytes(field: number, value: Uint8Array): this {
    return value.length > 0 ? this.message(field, value) : this
  }

  text(field: number, value: string): this {
    return this.bytes(field, encodeText(value))
  }

  /** An embedded message; encoded even when it is empty, because its presence is significant. */
  message(field: number, value: Uint8Array): this {
    this.#fields.push({ field, value })
    return this
  }

  finish(): Uint8Array {
    const writer = new BackwardWriter()
    for (let i = this.#fields.length - 1; i >= 0; i--) {
      const { field, value } = this.#fields[i]!
      if (typeof value === 'number') {
        writer.varint(value)
        writer.tag(field, 0)
      } else {
        writer.bytes(value)
        writer.varint(value.length)
        writer.tag(field, 2)
      }
    }
    return writer.finish()
  }
}

/** A decoded field: a number for varints, bytes for length-delimited fields. */
export interface ProtoField {
  readonly field: number
  readonly number: number
  readonly bytes: Uint8Array
}

const noBytes = new Uint8Array(0)

/**
 * The fields of a message in order, except for fixed-length ones, which no message here has. Numbers beyond 2^53
 * lose precision; bytes are views on `message`.
 */
export function* readFields(message: Uint8Array): Generator<ProtoField, void, undefined> {
  const reader = new ProtobufReader(
    message,
    reason => new Error(`a protobuf message is malformed: ${reason}`),
  )
  while (!reader.done) {
    const tag = reader.varint()
    const field = Math.floor(tag / 8)
    if (tag % 8 === 0) yield { field, number: reader.varint(), bytes: noBytes }
    else if (tag % 8 === 2) yield { field, number: 0, bytes: reader.bytes() }
    else reader.skip(tag % 8)
  }
}
