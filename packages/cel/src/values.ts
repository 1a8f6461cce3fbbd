import type { CelType } from './types.ts'

/**
 * Run-time values.
 *
 *   null, boolean, string, Uint8Array (bytes)   themselves
 *   int                                         a safe-integer number, or a bigint outside that range (never both)
 *   double, uint                                CelDouble, CelUint
 *   list, map, optional, time, type, libraries  the classes below, and whatever has `celType`
 *
 * A JSON integer is a CEL int as it stands, which makes the common path free of conversion and allocation.
 */
export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | Uint8Array
  | CelDouble
  | CelUint
  | Timestamp
  | Duration
  | ListValue
  | MapValue
  | TypeValue
  | OptionalValue
  | OpaqueValue

/** What evaluation throws. Not an Error: no stack is wanted, and `&&`, `||` and the macros absorb it often. */
export class EvalFault {
  readonly message: string
  /** Cancellation is never absorbed. */
  readonly cancelled: boolean
  constructor(message: string, cancelled = false) {
    this.message = message
    this.cancelled = cancelled
  }
}

/** Ends an evaluation with an error. */
export function fault(message: string): never {
  throw new EvalFault(message)
}

export class CelDouble {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class CelUint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** Nanoseconds since 1970 as seconds and a remainder in 0..999999999. */
export class Timestamp {
  readonly seconds: number
  readonly nanos: number
  constructor(seconds: number, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }
}

export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

export class TypeValue {
  readonly type: CelType
  constructor(type: CelType) {
    this.type = type
  }
}

export class OptionalValue {
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}

export const noneValue: OptionalValue = new OptionalValue(undefined)

/** Values of extension types (quantity, url, ip ...). */
export interface OpaqueValue {
  readonly celType: CelType
  equals(other: Value): boolean
  /** The number the cost functions take for the size of the value; 1 where absent. */
  celSize?(): number
}

export type Converter = (raw: unknown) => Value

export const identity: Converter = raw => raw as Value

/** Lists of type set and map: equal whatever the order, and `+` merges by key. */
export interface ListSemantics {
  readonly keyOf: (item: unknown) => string
  readonly isMap: boolean
}

/** A list over an array of values, or over raw JSON that `convert` turns into values one by one. */
export class ListValue {
  readonly items: readonly unknown[]
  readonly convert: Converter
  readonly semantics: ListSemantics | undefined
  constructor(items: readonly unknown[], convert: Converter = identity, semantics?: ListSemantics) {
    this.items = items
    this.convert = convert
    this.semantics = semantics
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): Value {
    return this.convert(this.items[index])
  }
  toArray(): Value[] {
    return this.convert === identity ? (this.items as Value[]) : this.items.map(this.convert)
  }
}

/** Keys of all numeric types that denote one number are one key. */
export type MapKey = string | boolean | number | bigint

export function normalizeKey(key: Value): MapKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return key
    default:
      if (key instanceof CelUint) return toInt(key.value)
      if (key instanceof CelDouble && Number.isInteger(key.value)) {
        return Number.isSafeInteger(key.value) ? key.value : BigInt(key.value)
      }
      return undefined
  }
}

/** What maps and objects have in common. `get` answers undefined for an absent key. */
export interface MapValue {
  readonly isMap: true
  readonly size: number
  get(key: Value): Value | undefined
  /** What `in` answers, where a key can be read that is not there. */
  has?(key: Value): boolean
  keys(): Value[]
  /** Set for objects of a schema: what `type()` answers and what their fields are. */
  readonly objectType?: CelType | undefined
  /** Set for values of struct literals, which have a type of their own at run time. */
  readonly structType?: CelType | undefined
}

export class EntryMap implements MapValue {
  readonly isMap = true as const
  readonly entries: ReadonlyMap<MapKey, readonly [Value, Value]>
  constructor(entries: ReadonlyMap<MapKey, readonly [Value, Value]>) {
    this.entries = entries
  }
  get size(): number {
    return this.entries.size
  }
  get(key: Value): Value | undefined {
    const normal = normalizeKey(key)
    return normal === undefined ? undefined : this.entries.get(normal)?.[1]
  }
  keys(): Value[] {
    return [...this.entries.values()].map(e => e[0])
  }
}

export type JsonRecord = Readonly<Record<string, unknown>>

/** A JSON object whose values all have one type. */
export class RecordMap implements MapValue {
  readonly isMap = true as const
  readonly record: JsonRecord
  readonly convert: Converter
  constructor(record: JsonRecord, convert: Converter) {
    this.record = record
    this.convert = convert
  }
  get size(): number {
    return Object.keys(this.record).length
  }
  get(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.record, key)) return undefined
    return this.convert(this.record[key])
  }
  keys(): Value[] {
    return Object.keys(this.record)
  }
}

export interface ObjectField {
  readonly property: string
  readonly convert: Converter
  /** A second name for the property, left out of `keys`. */
  readonly alias?: boolean
}

/** A JSON object with a schema: fields by their escaped names. A null field counts as absent. */
export class ObjectValue implements MapValue {
  readonly isMap = true as const
  readonly record: JsonRecord
  readonly fields: ReadonlyMap<string, ObjectField>
  readonly objectType: CelType
  constructor(record: JsonRecord, fields: ReadonlyMap<string, ObjectField>, objectType: CelType) {
    this.record = record
    this.fields = fields
    this.objectType = objectType
  }
  get size(): number {
    return this.keys().length
  }
  get(key: Value): Value | undefined {
    const field = typeof key === 'string' ? this.fields.get(key) : undefined
    if (field === undefined) return undefined
    const raw = Object.hasOwn(this.record, field.property) ? this.record[field.property] : undefined
    return raw === undefined || raw === null ? undefined : field.convert(raw)
  }
  keys(): Value[] {
    const keys: Value[] = []
    for (const [name, field] of this.fields) {
      if (field.alias !== true && Object.hasOwn(this.record, field.property)) keys.push(name)
    }
    return keys
  }
}

export function isMapValue(value: Value): value is MapValue {
  return typeof value === 'object' && value !== null && (value as MapValue).isMap === true
}

export function isOpaque(value: Value): value is OpaqueValue {
  return typeof value === 'object' && value !== null && (value as OpaqueValue).celType !== undefined
}

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n
const maxUint64 = 2n ** 64n - 1n

/** The canonical int of a bigint known to be in range. */
export function toInt(value: bigint): number | bigint {
  const n = Number(value)
  return Number.isSafeInteger(n) ? n : value
}

export function checkedInt(value: bigint, message = 'integer overflow'): number | bigint {
  if (value < minInt64 || value > maxInt64) fault(message)
  return toInt(value)
}

export function checkedUint(value: bigint, message = 'unsigned integer overflow'): CelUint {
  if (value < 0n || value > maxUint64) fault(message)
  return new CelUint(value)
}

export function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
