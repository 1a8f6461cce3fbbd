import { decodePaddedBase64 } from '@coxswain/kit'
import { BackwardWriter } from '@coxswain/kit/protobuf'
import { MachineryError } from '../errors.ts'
import { compareCodePoints } from '../go/print-value.ts'
import { writeJsonBytes } from '../json/write-json.ts'
import { type ElementType, type Message, type MessageField, maxDepth, type ScalarType } from './message.ts'
import { parseInstant } from './time.ts'

const varintType = 0
const fixed64Type = 1
const bytesType = 2

type Values = Readonly<Record<string, unknown>>
type Known = Extract<ElementType, { form: 'known' }>

/** The bytes of `value` as a message, without an envelope. Unknown members are dropped. */
export function encodeMessage(message: Message, value: unknown): Uint8Array<ArrayBuffer> {
  const encoder = new Encoder()
  encoder.object(message, value)
  return encoder.writer.finish()
}

/** Writes from the highest field number to the lowest, and lists from their ends, as the writer works backwards. */
class Encoder {
  readonly writer: BackwardWriter = new BackwardWriter()
  #depth = 0
  /** The path for errors. */
  #message: Message | undefined
  #field: MessageField | undefined

  object(message: Message, value: unknown): void {
    const outerMessage = this.#message
    const outerField = this.#field
    const values = value === undefined || value === null ? noValues : this.#asObject(value)
    if (++this.#depth > maxDepth) throw this.#bad('nested too deeply')
    this.#message = message
    const { fields } = message
    for (let i = fields.length - 1; i >= 0; i--) this.#writeField(fields[i] as MessageField, values)
    this.#depth--
    this.#message = outerMessage
    this.#field = outerField
  }

  #writeField(field: MessageField, values: Values): void {
    this.#field = field
    const { type, number, json } = field
    const value = json === '' ? values : Object.hasOwn(values, json) ? values[json] : undefined
    const isUnset = value === undefined || value === null
    if (type.form === 'list') {
      if (isUnset) return
      const items = this.#asList(value)
      for (let i = items.length - 1; i >= 0; i--) this.#element(type.element, number, items[i])
    } else if (type.form === 'map') {
      if (isUnset) return
      const members = this.#asObject(value)
      const keys = Object.keys(members).sort(compareCodePoints)
      for (let i = keys.length - 1; i >= 0; i--) {
        const key = keys[i] as string
        this.#entry(type.element, number, [key, members[key]])
      }
    } else if (!isUnset || !isLeftOut(type)) this.#element(type, number, value)
  }

  #entry(element: ElementType, number: number, [key, value]: readonly [string, unknown]): void {
    const { writer } = this
    const before = writer.length
    if (value !== undefined && value !== null) this.#element(element, 2, value)
    else if (!isBytes(element)) this.#element(element, 2, undefined)
    writer.varint(writer.text(key))
    writer.tag(1, bytesType)
    writer.varint(writer.length - before)
    writer.tag(number, bytesType)
  }

  /** Writes a value with its tag; an unset one as Go's zero value. */
  #element(type: ElementType, number: number, value: unknown): void {
    const { writer } = this
    if (type.form === 'scalar') {
      writer.tag(number, this.#scalar(type.scalar, value))
      return
    }
    const before = writer.length
    if (type.form === 'message') this.object(type.message(), value)
    else if (type.form === 'known') this.#known(type, value)
    else {
      const list = value === undefined || value === null ? [] : this.#asList(value)
      for (let i = list.length - 1; i >= 0; i--) this.#element(type.element, 1, list[i])
    }
    writer.varint(writer.length - before)
    writer.tag(number, bytesType)
  }

  /** Writes the value only and returns its wire type. */
  #scalar(scalar: ScalarType, value: unknown): number {
    const { writer } = this
    switch (scalar) {
      case 'string':
        writer.varint(writer.text(this.#asString(value)))
        return bytesType
      case 'bool':
        if (value !== undefined && value !== null && typeof value !== 'boolean') {
          throw this.#mismatch('boolean', value)
        }
        writer.byte(value === true ? 1 : 0)
        return varintType
      case 'int32':
      case 'int64':
        writer.int64(this.#asInteger(value))
        return varintType
      case 'float64':
        writer.float64(this.#asNumber(value))
        return fixed64Type
      case 'bytes': {
        const bytes = readBase64(this.#asString(value))
        writer.bytes(bytes)
        writer.varint(bytes.length)
        return bytesType
      }
    }
  }

  #known(type: Known, value: unknown): void {
    const isUnset = value === undefined || value === null
    switch (type.known) {
      case 'time':
      case 'microtime': {
        const instant = isUnset ? undefined : parseInstant(this.#asString(value))
        if (instant === undefined) return
        const isMicro = type.known === 'microtime'
        this.#element(int32, 2, isMicro ? instant.nanos - (instant.nanos % 1000) : 0)
        this.#element(int64, 1, instant.seconds)
        return
      }
      case 'quantity':
        this.#element(string, 1, isUnset ? '0' : typeof value === 'string' ? value : String(value))
        return
      case 'intstr': {
        const isText = typeof value === 'string'
        this.#element(string, 3, isText ? value : '')
        this.#element(int32, 2, isText ? 0 : value)
        this.#element(int32, 1, isText ? 1 : 0)
        return
      }
      case 'raw':
      case 'json':
        if (value !== undefined && (value !== null || type.known === 'json')) this.#json(value)
        return
      default:
        if (!isUnset) this.#schemaUnion(type, value)
    }
  }

  #json(value: unknown): void {
    const bytes = writeJsonBytes(value)
    this.writer.bytes(bytes)
    this.writer.varint(bytes.length)
    this.writer.tag(1, bytesType)
  }

  /** The JSON forms of a CRD schema's keywords that take a schema or something simpler. */
  #schemaUnion(type: Known, value: unknown): void {
    if (type.message === undefined) return
    const schema: ElementType = { form: 'message', message: type.message, pointer: true }
    if (type.known === 'schemaOrBool') {
      if (typeof value !== 'boolean') this.#element(schema, 2, value)
      this.#element(boolean, 1, value !== false)
    } else if (Array.isArray(value)) {
      const of = type.known === 'schemaOrArray' ? schema : string
      for (let i = value.length - 1; i >= 0; i--) this.#element(of, 2, value[i])
    } else this.#element(schema, 1, value)
  }

  #asObject(value: unknown): Values {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Values
    throw this.#mismatch('object', value)
  }

  #asList(value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value
    throw this.#mismatch('array', value)
  }

  #asString(value: unknown): string {
    if (typeof value === 'string') return value
    if (value === undefined || value === null) return ''
    throw this.#mismatch('string', value)
  }

  #asInteger(value: unknown): number | bigint {
    if (value === undefined || value === null) return 0
    if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return value
    throw this.#mismatch('integer', value)
  }

  #asNumber(value: unknown): number {
    if (value === undefined || value === null) return 0
    if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
    throw this.#mismatch('number', value)
  }

  #mismatch(expected: string, value: unknown): MachineryError {
    const found = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
    return this.#bad(`expected ${expected}, found ${found}`)
  }

  #bad(reason: string): MachineryError {
    const where = this.#message ? `${this.#message.name}.${this.#field?.json ?? ''}: ` : ''
    return new MachineryError('BadProtobuf', `${where}${reason}`)
  }
}

const noValues: Values = {}
const string: ElementType = { form: 'scalar', scalar: 'string', pointer: false }
const boolean: ElementType = { form: 'scalar', scalar: 'bool', pointer: false }
const int32: ElementType = { form: 'scalar', scalar: 'int32', pointer: false }
const int64: ElementType = { form: 'scalar', scalar: 'int64', pointer: false }

/** What is omitted when it is not set: pointers and byte slices. */
function isLeftOut(type: ElementType): boolean {
  return (type.form !== 'wrapped' && type.pointer) || isBytes(type)
}

function isBytes(type: ElementType): boolean {
  return type.form === 'scalar' && type.scalar === 'bytes'
}

function readBase64(text: string): Uint8Array {
  const bytes = decodePaddedBase64(text)
  if (bytes) return bytes
  const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text
  throw new MachineryError('BadProtobuf', `not base64: ${JSON.stringify(shown)}`)
}
