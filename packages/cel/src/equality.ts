import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from './types.ts'
import {
  CelDouble,
  CelUint,
  Duration,
  isMapValue,
  isOpaque,
  type ListSemantics,
  ListValue,
  type MapValue,
  OptionalValue,
  Timestamp,
  TypeValue,
  type Value,
} from './values.ts'

const dynList: CelType = listOf(dynType)
const dynMap: CelType = mapOf(dynType, dynType)
const dynOptional: CelType = optionalOf(dynType)
const dynTypeType: CelType = typeOf(dynType)

/** The type of a value at run time; what `type(x)` answers, and what error messages name. */
export function typeOfValue(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return boolType
    case 'string':
      return stringType
    case 'number':
    case 'bigint':
      return intType
    default:
      if (value === null) return nullType
      if (value instanceof CelDouble) return doubleType
      if (value instanceof CelUint) return uintType
      if (value instanceof ListValue) return dynList
      if (isMapValue(value)) return value.structType ?? dynMap
      if (value instanceof Uint8Array) return bytesType
      if (value instanceof Timestamp) return timestampType
      if (value instanceof Duration) return durationType
      if (value instanceof OptionalValue) return dynOptional
      if (value instanceof TypeValue) return dynTypeType
      return value.celType
  }
}

/** The number behind any numeric value, exactly: a double as number, ints and uints as number or bigint. */
export function numeric(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof CelDouble || value instanceof CelUint) return value.value
  return undefined
}

/** Against a double, integers are rounded to doubles first, as in cel-go. */
function compareNumbers(a: Value, b: Value): number | undefined {
  let left = numeric(a)
  let right = numeric(b)
  if (left === undefined || right === undefined) return undefined
  if (a instanceof CelDouble) right = Number(right)
  if (b instanceof CelDouble) left = Number(left)
  return left < right ? -1 : left > right ? 1 : left <= right ? 0 : Number.NaN
}

export function equals(a: Value, b: Value): boolean {
  if (a === b) return true
  const left = numeric(a)
  if (left !== undefined) {
    return compareNumbers(a, b) === 0
  }
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false
  if (a instanceof ListValue) return b instanceof ListValue && equalLists(a, b)
  if (isMapValue(a)) return isMapValue(b) && a.structType?.name === b.structType?.name && equalMaps(a, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.type.name === b.type.name
  if (a instanceof OptionalValue) {
    if (!(b instanceof OptionalValue)) return false
    return a.value === undefined || b.value === undefined ? a.value === b.value : equals(a.value, b.value)
  }
  return isOpaque(a) && isOpaque(b) && a.celType.name === b.celType.name && a.equals(b)
}

function equalLists(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false
  if (a.semantics !== undefined) return equalSets(a, b, a.semantics)
  for (let i = 0; i < a.size; i++) if (!equals(a.at(i), b.at(i))) return false
  return true
}

/** Order does not matter; elements of map lists are matched by key. Both sides may hold raw JSON or values. */
function equalSets(a: ListValue, b: ListValue, { keyOf, isMap }: ListSemantics): boolean {
  if (isMap && b.semantics?.isMap === true) {
    const byKey = new Map(a.items.map((item, i) => [keyOf(item), a.at(i)]))
    return b.items.every((item, i) => {
      const match = byKey.get(keyOf(item))
      return match !== undefined && equals(match, b.at(i))
    })
  }
  const others = b.toArray()
  return a.toArray().every(v => others.some(o => equals(v, o)))
}

function equalMaps(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const other = b.get(key)
    if (other === undefined || !equals(a.get(key) as Value, other)) return false
  }
  return true
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(a.length - b.length)
}

/** By code point, which differs from JavaScript's order outside the basic plane. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i)
    let y = b.charCodeAt(i)
    if (x === y) continue
    if (x >= 0xd800) x = x >= 0xe000 ? x - 0x800 : x + 0x2000
    if (y >= 0xd800) y = y >= 0xe000 ? y - 0x800 : y + 0x2000
    return x < y ? -1 : 1
  }
  return a.length < b.length ? -1 : 1
}

/** Negative, zero, positive; NaN where one side is NaN; undefined where the two have no order. */
export function compare(a: Value, b: Value): number | undefined {
  const left = numeric(a)
  if (left !== undefined) {
    return compareNumbers(a, b)
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : undefined
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined
  if (a instanceof Timestamp) {
    return b instanceof Timestamp ? a.seconds - b.seconds || a.nanos - b.nanos : undefined
  }
  if (a instanceof Duration) {
    return b instanceof Duration ? (a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0) : undefined
  }
  return undefined
}
