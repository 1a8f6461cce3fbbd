import { readJson } from '../json/read-json.ts'
import { setMember } from '../json/value.ts'
import { toBase64 } from './base64.ts'
import {
  type ElementType,
  type FieldType,
  hasMagic,
  type Message,
  type MessageField,
  maxDepth,
  type ScalarType,
} from './message.ts'
import { malformed, Reader } from './reader.ts'
import { formatMicroTime, formatTime } from './time.ts'

type Values = Record<string, unknown>

/** What an object inside of another is read with when it is not JSON. */
export type DecodeEnvelope = (bytes: Uint8Array) => unknown

/** Reads a message into what Go would write as JSON for it: empty members left out where their tags say so. */
export function decodeMessage(message: Message, bytes: Uint8Array, envelope: DecodeEnvelope): Values {
  const target: Values = {}
  readMessage(new Reader(bytes), message, { target, depth: 0, envelope })
  return target
}

interface Node {
  readonly target: Values
  readonly depth: number
  readonly envelope: DecodeEnvelope
}

function readMessage(reader: Reader, message: Message, node: Node): void {
  if (node.depth > maxDepth) throw malformed(`${message.name} is nested too deeply`)
  const fields = fieldsByNumber(message)
  while (!reader.done) {
    const tag = reader.varint()
    const field = fields.get(Math.floor(tag / 8))
    if (field === undefined) reader.skip(tag % 8)
    else readField(reader, field, { ...node, wireType: tag % 8 })
  }
  for (const field of message.fields) complete(field, node)
}

const indexes = new WeakMap<Message, ReadonlyMap<number, MessageField>>()

function fieldsByNumber(message: Message): ReadonlyMap<number, MessageField> {
  let index = indexes.get(message)
  if (index === undefined) {
    index = new Map(message.fields.map(field => [field.number, field]))
    indexes.set(message, index)
  }
  return index
}

interface FieldNode extends Node {
  readonly wireType: number
}

function readField(reader: Reader, field: MessageField, node: FieldNode): void {
  const { type } = field
  const { target } = node
  if (type.form === 'list') {
    const list = ensure<unknown[]>(target, field.json, () => [])
    if (isPacked(type.element, node.wireType)) {
      for (const packed = reader.nested(); !packed.done; )
        list.push(readScalar(packed, scalarOf(type.element)))
    } else list.push(readElement(reader, type.element, node))
  } else if (type.form === 'map') {
    const map = ensure<Values>(target, field.json, () => ({}))
    readEntry(reader.nested(), type.element, { ...node, target: map })
  } else if (field.json === '' && type.form === 'message') {
    readMessage(reader.nested(), type.message(), { ...node, depth: node.depth + 1 })
  } else target[field.json] = readElement(reader, type, node)
}

function ensure<T>(target: Values, key: string, create: () => T): T {
  target[key] ??= create()
  return target[key] as T
}

function isPacked(element: ElementType, wireType: number): boolean {
  return (
    wireType === 2 && element.form === 'scalar' && element.scalar !== 'string' && element.scalar !== 'bytes'
  )
}

function scalarOf(element: ElementType): ScalarType {
  return element.form === 'scalar' ? element.scalar : 'string'
}

function readEntry(reader: Reader, element: ElementType, node: FieldNode): void {
  let key = ''
  let value: unknown
  while (!reader.done) {
    const tag = reader.varint()
    const number = Math.floor(tag / 8)
    if (number === 1) key = readChecked(reader, 'string', tag % 8) as string
    else if (number === 2) value = readElement(reader, element, { ...node, wireType: tag % 8 })
    else reader.skip(tag % 8)
  }
  setMember(node.target, key, value === undefined ? zeroOf(element, node) : value)
}

function readElement(reader: Reader, type: ElementType, node: FieldNode): unknown {
  if (type.form === 'scalar') return readChecked(reader, type.scalar, node.wireType)
  if (node.wireType !== 2) throw malformed(`wrong wireType = ${node.wireType}`)
  const nested = reader.nested()
  if (type.form === 'message') {
    const target: Values = {}
    readMessage(nested, type.message(), { ...node, target, depth: node.depth + 1 })
    return target
  }
  if (type.form === 'known') return readKnown(nested, type, node)
  const list: unknown[] = []
  while (!nested.done) {
    const tag = nested.varint()
    if (Math.floor(tag / 8) === 1)
      list.push(readElement(nested, type.element, { ...node, wireType: tag % 8 }))
    else nested.skip(tag % 8)
  }
  return list
}

const wireTypes: Readonly<Record<ScalarType, number>> = {
  string: 2,
  bytes: 2,
  bool: 0,
  int32: 0,
  int64: 0,
  float64: 1,
}

function readChecked(reader: Reader, scalar: ScalarType, wireType: number): unknown {
  if (wireTypes[scalar] !== wireType) throw malformed(`wrong wireType = ${wireType}`)
  return readScalar(reader, scalar)
}

function readScalar(reader: Reader, scalar: ScalarType): unknown {
  switch (scalar) {
    case 'string':
      return reader.string()
    case 'bytes':
      return toBase64(reader.bytes())
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

type Known = Extract<ElementType, { form: 'known' }>

/** The parts of a small message: the last of each number, and all of the second as they may repeat. */
interface Parts {
  readonly first: unknown
  readonly second: unknown
  readonly third: unknown
  readonly seconds: readonly unknown[]
}

function readKnown(reader: Reader, type: Known, node: FieldNode): unknown {
  switch (type.known) {
    case 'time':
    case 'microtime': {
      if (reader.done) return null
      const { first, second } = readParts(reader, ['int64', 'int32'], node)
      const seconds = Number(first ?? 0)
      if (type.known === 'time') return formatTime(seconds)
      return formatMicroTime({ seconds, nanos: Number(second ?? 0) })
    }
    case 'quantity':
      return readParts(reader, ['string'], node).first || '0'
    case 'intstr': {
      const { first, second, third } = readParts(reader, ['int64', 'int32', 'string'], node)
      return first === 1 ? (third ?? '') : (second ?? 0)
    }
    case 'raw':
    case 'json':
      return readRaw(reader, node)
    default:
      return readSchemaUnion(reader, type, node)
  }
}

function readRaw(reader: Reader, node: FieldNode): unknown {
  let raw: Uint8Array | undefined
  while (!reader.done) {
    const tag = reader.varint()
    if (tag === 10) raw = reader.bytes()
    else reader.skip(tag % 8)
  }
  if (raw === undefined || raw.length === 0) return null
  if (hasMagic(raw)) return node.envelope(raw)
  try {
    return readJson(raw, { maxBytes: raw.length, literals: false }).value
  } catch (error) {
    throw malformed(`an embedded object is neither protobuf nor JSON: ${(error as Error).message}`)
  }
}

function readSchemaUnion(reader: Reader, type: Known, node: FieldNode): unknown {
  if (type.message === undefined) return null
  const schema: ElementType = { form: 'message', message: type.message, pointer: true }
  if (type.known === 'schemaOrBool') {
    const { first, second } = readParts(reader, ['bool', schema], node)
    return second ?? first === true
  }
  const second = type.known === 'schemaOrArray' ? schema : 'string'
  const parts = readParts(reader, [schema, second], node)
  return parts.seconds.length > 0 ? parts.seconds : (parts.first ?? null)
}

function readParts(reader: Reader, types: readonly (ScalarType | ElementType)[], node: FieldNode): Parts {
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
    const element: ElementType =
      typeof type === 'string' ? { form: 'scalar', scalar: type, pointer: false } : type
    last[number] = readElement(reader, element, { ...node, depth: node.depth + 1, wireType: tag % 8 })
    if (number === 2) seconds.push(last[number])
  }
  return { first: last[1], second: last[2], third: last[3], seconds }
}

/** Leaves out, or fills in, what the message had no value for. */
function complete(field: MessageField, node: Node): void {
  const { target } = node
  const { json, type, omit } = field
  if (json === '') {
    if (type.form === 'message') for (const inner of type.message().fields) complete(inner, node)
    return
  }
  const value = target[json]
  if (value === undefined) {
    const zero = zeroOf(type, node)
    if (omit === 'never' || isAlwaysWritten(type, zero, omit)) target[json] = zero
  } else if (omit !== 'never' && isEmpty(type, value, omit)) delete target[json]
}

/** Go's `omitempty` does not leave out a struct. */
function isAlwaysWritten(type: FieldType, zero: unknown, omit: MessageField['omit']): boolean {
  if (type.form !== 'message' && type.form !== 'known') return false
  return !type.pointer && !(omit === 'zero' && zero === null)
}

function isEmpty(type: FieldType, value: unknown, omit: MessageField['omit']): boolean {
  switch (type.form) {
    case 'scalar':
      return !type.pointer && (value === '' || value === 0 || value === false)
    case 'known':
      return omit === 'zero' && value === null
    default:
      return false
  }
}

/** The JSON of a Go value that was never set. */
function zeroOf(type: FieldType, node: Node): unknown {
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
      readMessage(new Reader(new Uint8Array(0)), type.message(), { ...node, target, depth: node.depth + 1 })
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
