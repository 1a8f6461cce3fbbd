/**
 * Decodes messages to the JSON that Go would write for them. Fields are looked up by number, so that their order does not
 * matter, and empty values are omitted where JSON omits them; afterwards each message is completed with the zero
 * values that JSON always has.
 */

import { encodeBase64 } from '@coxswain/kit'
import { ProtobufReader } from '@coxswain/kit/protobuf'
import { readJson } from '../json/read-json.ts'
import { setMember } from '../json/value.ts'
import { malformed } from './malformed.ts'
import {
  type ElementType,
  type FieldType,
  hasMagic,
  type Message,
  type MessageField,
  maxDepth,
  type ScalarType,
} from './message.ts'
import { formatMicroTime, formatTime } from './time.ts'

type Values = Record<string, unknown>

/** What an object inside of another is read with when it is not JSON. */
export type DecodeEnvelope = (bytes: Uint8Array) => unknown

/** Decodes a message to the JSON that Go would write for it. */
export function decodeMessage(message: Message, bytes: Uint8Array, envelope: DecodeEnvelope): Values {
  const target: Values = {}
  new Decoder(bytes, envelope).message(message, target)
  return target
}

type Known = Extract<ElementType, { form: 'known' }>

/** The parts of a small message: the last of each number, and all of the second as they may repeat. */
interface Parts {
  readonly first: unknown
  readonly second: unknown
  readonly third: unknown
  readonly seconds: readonly unknown[]
}

class Decoder {
  readonly #reader: ProtobufReader
  readonly #envelope: DecodeEnvelope
  #depth = 0

  constructor(bytes: Uint8Array, envelope: DecodeEnvelope) {
    this.#reader = new ProtobufReader(bytes, malformed)
    this.#envelope = envelope
  }

  /** Reads until the end of the message that the reader is in. */
  message(message: Message, target: Values): void {
    if (++this.#depth > maxDepth) throw malformed(`${message.name} is nested too deeply`)
    const reader = this.#reader
    const fields = fieldsByNumber(message)
    while (!reader.done) {
      const tag = reader.varint()
      const field = fields[Math.floor(tag / 8)]
      if (field === undefined) reader.skip(tag % 8)
      else this.#field(field, target, tag % 8)
    }
    for (const field of message.fields) complete(field, target)
    this.#depth--
  }

  #field(field: MessageField, target: Values, wireType: number): void {
    const { type, json } = field
    if (type.form === 'list') {
      const list = (target[json] ?? []) as unknown[]
      target[json] = list
      if (isPacked(type.element, wireType)) this.#packed(type.element, list)
      else list.push(this.#element(type.element, wireType))
    } else if (type.form === 'map') {
      const map = (target[json] ?? {}) as Values
      target[json] = map
      this.#entry(type.element, map, wireType)
    } else if (json === '' && type.form === 'message') {
      const outer = this.#enter(wireType)
      this.message(type.message(), target)
      this.#reader.leave(outer)
    } else {
      const value = this.#element(type, wireType)
      if (field.omit === 'never' || !isEmpty(type, value, field.omit)) target[json] = value
      else if (json in target) delete target[json] // the last of several values counts
    }
  }

  #enter(wireType: number): number {
    if (wireType !== 2) throw malformed(`wrong wireType = ${wireType}`)
    return this.#reader.enter()
  }

  #packed(element: ElementType, list: unknown[]): void {
    const reader = this.#reader
    const outer = reader.enter()
    while (!reader.done) list.push(this.#scalar(element.form === 'scalar' ? element.scalar : 'int64'))
    reader.leave(outer)
  }

  #entry(element: ElementType, map: Values, wireType: number): void {
    const reader = this.#reader
    const outer = this.#enter(wireType)
    let key = ''
    let value: unknown
    while (!reader.done) {
      const tag = reader.varint()
      if (tag === 10) key = reader.string()
      else if (Math.floor(tag / 8) === 2) value = this.#element(element, tag % 8)
      else reader.skip(tag % 8)
    }
    reader.leave(outer)
    setMember(map, key, value === undefined ? zeroOf(element) : value)
  }

  #element(type: ElementType, wireType: number): unknown {
    if (type.form === 'scalar') {
      if (wireTypes[type.scalar] !== wireType) throw malformed(`wrong wireType = ${wireType}`)
      return this.#scalar(type.scalar)
    }
    const outer = this.#enter(wireType)
    const value = this.#nested(type)
    this.#reader.leave(outer)
    return value
  }

  #nested(type: Exclude<ElementType, { form: 'scalar' }>): unknown {
    if (type.form === 'message') {
      const target: Values = {}
      this.message(type.message(), target)
      return target
    }
    if (type.form === 'known') return this.#known(type)
    const reader = this.#reader
    const list: unknown[] = []
    while (!reader.done) {
      const tag = reader.varint()
      if (Math.floor(tag / 8) === 1) list.push(this.#element(type.element, tag % 8))
      else reader.skip(tag % 8)
    }
    return list
  }

  #scalar(scalar: ScalarType): unknown {
    const reader = this.#reader
    switch (scalar) {
      case 'string':
        return reader.string()
      case 'bytes':
        return encodeBase64(reader.bytes())
      case 'bool':
        return reader.int64() !== 0
      case 'int32': {
        const value = reader.int64()
        return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : value | 0
      }
      case 'int64':
        return reader.int64()
      case 'float64':
        return reader.float64()
    }
  }

  #known(type: Known): unknown {
    switch (type.known) {
      case 'time':
      case 'microtime': {
        if (this.#reader.done) return null
        const { first, second } = this.#parts([int64, int64])
        const seconds = Number(first ?? 0)
        if (type.known === 'time') return formatTime(seconds)
        return formatMicroTime({ seconds, nanos: Number(second ?? 0) })
      }
      case 'quantity':
        return this.#parts([string]).first || '0'
      case 'intstr': {
        const { first, second, third } = this.#parts([int64, int32, string])
        return first === 1 ? (third ?? '') : (second ?? 0)
      }
      case 'raw':
      case 'json':
        return this.#raw()
      default:
        return this.#schemaUnion(type)
    }
  }

  #raw(): unknown {
    const reader = this.#reader
    let raw: Uint8Array | undefined
    while (!reader.done) {
      const tag = reader.varint()
      if (tag === 10) raw = reader.bytes()
      else reader.skip(tag % 8)
    }
    if (raw === undefined || raw.length === 0) return null
    if (hasMagic(raw)) return this.#envelope(raw)
    try {
      return readJson(raw, { maxBytes: raw.length, literals: false }).value
    } catch (error) {
      throw malformed(`an embedded object is neither protobuf nor JSON: ${(error as Error).message}`)
    }
  }

  #schemaUnion(type: Known): unknown {
    if (type.message === undefined) return null
    const schema: ElementType = { form: 'message', message: type.message, pointer: true }
    if (type.known === 'schemaOrBool') {
      const { first, second } = this.#parts([bool, schema])
      return second ?? first === true
    }
    const parts = this.#parts([schema, type.known === 'schemaOrArray' ? schema : string])
    return parts.seconds.length > 0 ? parts.seconds : (parts.first ?? null)
  }

  #parts(types: readonly ElementType[]): Parts {
    const reader = this.#reader
    const last: unknown[] = []
    const seconds: unknown[] = []
    while (!reader.done) {
      const tag = reader.varint()
      const number = Math.floor(tag / 8)
      const type = types[number - 1]
      if (type === undefined) {
        reader.skip(tag % 8)
        continue
      }
      last[number] = this.#element(type, tag % 8)
      if (number === 2) seconds.push(last[number])
    }
    return { first: last[1], second: last[2], third: last[3], seconds }
  }
}

const string: ElementType = { form: 'scalar', scalar: 'string', pointer: false }
const bool: ElementType = { form: 'scalar', scalar: 'bool', pointer: false }
const int32: ElementType = { form: 'scalar', scalar: 'int32', pointer: false }
const int64: ElementType = { form: 'scalar', scalar: 'int64', pointer: false }

const wireTypes: Readonly<Record<ScalarType, number>> = {
  string: 2,
  bytes: 2,
  bool: 0,
  int32: 0,
  int64: 0,
  float64: 1,
}

const indexes = new WeakMap<Message, readonly (MessageField | undefined)[]>()

function fieldsByNumber(message: Message): readonly (MessageField | undefined)[] {
  let index = indexes.get(message)
  if (index === undefined) {
    const made: MessageField[] = []
    for (const field of message.fields) made[field.number] = field
    index = made
    indexes.set(message, index)
  }
  return index
}

function isPacked(element: ElementType, wireType: number): boolean {
  return wireType === 2 && element.form === 'scalar' && wireTypes[element.scalar] !== 2
}

/** Fills in zero values that JSON always has. */
function complete(field: MessageField, target: Values): void {
  const { json, type, omit } = field
  if (json === '') {
    if (type.form === 'message') for (const inner of type.message().fields) complete(inner, target)
  } else if ((omit === 'never' || isAlwaysWritten(type, omit)) && target[json] === undefined) {
    target[json] = zeroOf(type)
  }
}

/** Go's `omitempty` does not omit a struct. */
function isAlwaysWritten(type: FieldType, omit: MessageField['omit']): boolean {
  if (type.form === 'message') return !type.pointer
  return type.form === 'known' && !type.pointer && omit !== 'zero'
}

function isEmpty(type: FieldType, value: unknown, omit: MessageField['omit']): boolean {
  if (type.form === 'scalar') return !type.pointer && (value === '' || value === 0 || value === false)
  return type.form === 'known' && omit === 'zero' && value === null
}

/** The JSON of a Go value that was never set. */
function zeroOf(type: FieldType): unknown {
  switch (type.form) {
    case 'list':
    case 'map':
    case 'wrapped':
      return null
    case 'scalar':
      return type.pointer ? null : zeros[type.scalar]
    case 'message': {
      if (type.pointer) return null
      const target: Values = {}
      for (const field of type.message().fields) complete(field, target)
      return target
    }
    case 'known':
      if (type.pointer) return null
      return type.known === 'quantity' ? '0' : type.known === 'intstr' ? 0 : null
  }
}

const zeros: Readonly<Record<ScalarType, unknown>> = {
  string: '',
  bytes: null,
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
}
