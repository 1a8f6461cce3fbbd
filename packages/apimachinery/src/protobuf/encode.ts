import { MachineryError } from '../errors.ts'
import { writeJsonBytes } from '../json/write-json.ts'
import { fromBase64 } from './base64.ts'
import { type ElementType, type Message, type MessageField, maxDepth, type ScalarType } from './message.ts'
import { parseInstant } from './time.ts'
import { BackwardWriter } from './writer.ts'

const varintType = 0
const fixed64Type = 1
const bytesType = 2

type Values = Readonly<Record<string, unknown>>

/** The bytes of `value` as a message, without an envelope. Members that the message does not know are left out. */
export function encodeMessage(message: Message, value: unknown): Uint8Array<ArrayBuffer> {
  const writer = new BackwardWriter()
  writeMessage(writer, message, { value: asObject(value, message.name), depth: 0 })
  return writer.finish()
}

interface Node {
  readonly value: Values
  readonly depth: number
}

/** Fields go from the highest number to the lowest, as the writer works backwards. */
function writeMessage(writer: BackwardWriter, message: Message, node: Node): void {
  if (node.depth > maxDepth) throw bad(message.name, 'nested too deeply')
  const { fields } = message
  for (let i = fields.length - 1; i >= 0; i--) {
    const field = fields[i] as MessageField
    writeField(writer, field, { parent: message, node })
  }
}

function writeField(writer: BackwardWriter, field: MessageField, at: { parent: Message; node: Node }): void {
  const { type, number } = field
  const { node } = at
  const where = `${at.parent.name}.${field.json}`
  const value = field.json === '' ? node.value : own(node.value, field.json)
  if (type.form === 'list') {
    if (value === undefined || value === null) return
    const items = asList(value, where)
    for (let i = items.length - 1; i >= 0; i--) {
      writeElement(writer, type.element, { number, value: items[i], where, depth: node.depth })
    }
  } else if (type.form === 'map') {
    if (value === undefined || value === null) return
    const members = asObject(value, where)
    const keys = sortedKeys(members)
    for (let i = keys.length - 1; i >= 0; i--) {
      writeEntry(writer, type.element, { number, key: keys[i] ?? '', members, where, depth: node.depth })
    }
  } else {
    const isUnset = value === undefined || value === null
    if (isUnset && (isPointer(type) || isBytes(type))) return
    writeElement(writer, type, { number, value, where, depth: node.depth })
  }
}

function isPointer(type: ElementType): boolean {
  return type.form !== 'wrapped' && type.pointer
}

function isBytes(type: ElementType): boolean {
  return type.form === 'scalar' && type.scalar === 'bytes'
}

interface Entry {
  readonly number: number
  readonly key: string
  readonly members: Values
  readonly where: string
  readonly depth: number
}

function writeEntry(writer: BackwardWriter, element: ElementType, entry: Entry): void {
  const before = writer.length
  const value = entry.members[entry.key]
  if (!(isBytes(element) && (value === null || value === undefined))) {
    writeElement(writer, element, {
      number: 2,
      value,
      where: `${entry.where}.${entry.key}`,
      depth: entry.depth,
    })
  }
  writer.varint(writer.text(entry.key))
  writer.tag(1, bytesType)
  writer.varint(writer.length - before)
  writer.tag(entry.number, bytesType)
}

interface Element {
  readonly number: number
  readonly value: unknown
  readonly where: string
  readonly depth: number
}

/** Writes a value with its tag; an unset one as Go's zero value. */
function writeElement(writer: BackwardWriter, type: ElementType, element: Element): void {
  if (type.form === 'scalar') {
    const wireType = writeScalar(writer, type.scalar, element)
    writer.tag(element.number, wireType)
    return
  }
  const before = writer.length
  if (type.form === 'message') {
    const value = element.value === undefined || element.value === null ? {} : element.value
    writeMessage(writer, type.message(), { value: asObject(value, element.where), depth: element.depth + 1 })
  } else if (type.form === 'wrapped') {
    const items = element.value === undefined || element.value === null ? [] : element.value
    const list = asList(items, element.where)
    for (let i = list.length - 1; i >= 0; i--) {
      writeElement(writer, type.element, { ...element, number: 1, value: list[i] })
    }
  } else writeKnown(writer, type, element)
  writer.varint(writer.length - before)
  writer.tag(element.number, bytesType)
}

/** Writes the value only and returns its wire type. */
function writeScalar(writer: BackwardWriter, scalar: ScalarType, element: Element): number {
  const { value, where } = element
  switch (scalar) {
    case 'string':
      writer.varint(writer.text(asString(value, where)))
      return bytesType
    case 'bool':
      if (value !== undefined && value !== null && typeof value !== 'boolean')
        throw mismatch(where, 'boolean', value)
      writer.byte(value === true ? 1 : 0)
      return varintType
    case 'int32':
    case 'int64':
      writer.int64(asInteger(value, where))
      return varintType
    case 'float64':
      if (typeof value === 'bigint') writer.float64(Number(value))
      else if (typeof value === 'number') writer.float64(value)
      else throw mismatch(where, 'number', value)
      return fixed64Type
    case 'bytes': {
      const bytes = fromBase64(asString(value, where))
      writer.bytes(bytes)
      writer.varint(bytes.length)
      return bytesType
    }
  }
}

type Known = Extract<ElementType, { form: 'known' }>

function writeKnown(writer: BackwardWriter, type: Known, element: Element): void {
  const { value, where, depth } = element
  const inner = (number: number, of: ElementType, part: unknown): void =>
    writeElement(writer, of, { number, value: part, where, depth: depth + 1 })
  switch (type.known) {
    case 'time':
    case 'microtime': {
      const instant = value === undefined || value === null ? undefined : parseInstant(asString(value, where))
      if (instant === undefined) return
      const isMicro = type.known === 'microtime'
      inner(2, int32, isMicro ? instant.nanos - (instant.nanos % 1000) : 0)
      inner(1, int64, instant.seconds)
      return
    }
    case 'quantity':
      inner(
        1,
        string,
        typeof value === 'string' ? value : value === undefined || value === null ? '0' : String(value),
      )
      return
    case 'intstr':
      inner(3, string, typeof value === 'string' ? value : '')
      inner(2, int32, typeof value === 'string' ? 0 : value)
      inner(1, int32, typeof value === 'string' ? 1 : 0)
      return
    case 'raw':
    case 'json':
      if (value === undefined || (value === null && type.known === 'raw')) return
      writeBytes(writer, 1, writeJsonBytes(value))
      return
    default:
      writeSchemaUnion(type, element, inner)
  }
}

function writeBytes(writer: BackwardWriter, number: number, bytes: Uint8Array): void {
  writer.bytes(bytes)
  writer.varint(bytes.length)
  writer.tag(number, bytesType)
}

/** The JSON forms of a CRD schema's keywords that take a schema or something simpler. */
function writeSchemaUnion(
  type: Known,
  element: Element,
  inner: (number: number, of: ElementType, part: unknown) => void,
): void {
  const { value } = element
  const schema: ElementType | undefined = type.message && {
    form: 'message',
    message: type.message,
    pointer: true,
  }
  if (schema === undefined || value === undefined || value === null) return
  if (type.known === 'schemaOrBool') {
    if (typeof value !== 'boolean') inner(2, schema, value)
    inner(1, boolean, value !== false)
  } else if (Array.isArray(value)) {
    const of = type.known === 'schemaOrArray' ? schema : string
    for (let i = value.length - 1; i >= 0; i--) inner(2, of, value[i])
  } else inner(1, schema, value)
}

const string: ElementType = { form: 'scalar', scalar: 'string', pointer: false }
const boolean: ElementType = { form: 'scalar', scalar: 'bool', pointer: false }
const int32: ElementType = { form: 'scalar', scalar: 'int32', pointer: false }
const int64: ElementType = { form: 'scalar', scalar: 'int64', pointer: false }

function own(object: Values, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Go sorts by bytes, which is by code points. */
function sortedKeys(members: Values): string[] {
  return Object.keys(members).sort((a, b) => {
    for (let i = 0; i < a.length && i < b.length; ) {
      const x = a.codePointAt(i) ?? 0
      const y = b.codePointAt(i) ?? 0
      if (x !== y) return x - y
      i += x > 0xffff ? 2 : 1
    }
    return a.length - b.length
  })
}

function asObject(value: unknown, where: string): Values {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Values
  throw mismatch(where, 'object', value)
}

function asList(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw mismatch(where, 'array', value)
}

function asString(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  throw mismatch(where, 'string', value)
}

function asInteger(value: unknown, where: string): number | bigint {
  if (value === undefined || value === null) return 0
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return value
  throw mismatch(where, 'integer', value)
}

function mismatch(where: string, expected: string, value: unknown): MachineryError {
  const found = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return bad(where, `expected ${expected}, found ${found}`)
}

function bad(where: string, reason: string): MachineryError {
  return new MachineryError('BadProtobuf', `${where}: ${reason}`)
}
