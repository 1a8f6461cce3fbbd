import { BoundedMap, encodeText } from '@coxswain/kit'
import { goPrint } from '../go/go-print.ts'
import { parseInt64 } from '../go/parse-int.ts'
import { compareCodePoints, printJson } from '../go/print-value.ts'
import { quote } from '../go/quote.ts'
import { readJson } from '../json/read-json.ts'
import type { ListType } from './type-node.ts'

/**
 * One step of a field path, as FieldsV1 writes it: `f:name` a field, `k:{"name":"a"}` the list element with these
 * keys, `v:"a"` the element of a set, `i:0` an index. Two elements are the same if and only if their texts are.
 */
export type PathElement = string

/** Recently used field elements: looking up a known text is faster than creating a new one. */
const fieldElements = new BoundedMap<string, PathElement>(2048)

/** The element of a field. */
export function fieldElement(key: string): PathElement {
  let element = fieldElements.get(key)
  if (element === undefined) {
    element = `f:${key}`
    if (key.length <= 64) fieldElements.set(key, element)
  }
  return element
}

/** A value that does not match its type; `path` is relative to where the walk began. */
export class TypedValueError extends Error {
  path: string

  constructor(message: string, path = '') {
    super(message)
    this.name = 'TypedValueError'
    this.path = path
  }
}

/** The element of `item` in a set or map list. Throws a {@link TypedValueError} if it has none. */
export function elementOf(list: ListType, item: unknown): PathElement {
  return list.kind === 'map' ? keyElement(list, item) : valueElement(item)
}

function keyElement(list: ListType, item: unknown): PathElement {
  if (item === null) throw new TypedValueError('associative list with keys may not have a null element')
  if (typeof item !== 'object' || Array.isArray(item)) {
    throw new TypedValueError('associative list with keys may not have non-map elements')
  }
  const object = item as Record<string, unknown>
  let text = ''
  for (let i = 0; i < list.keys.length; i++) {
    const key = list.keys[i]!
    const own = Object.hasOwn(object, key) ? object[key] : undefined
    const value = own === undefined ? list.keyDefaults[i] : own
    if (value !== undefined) text += `${text === '' ? '' : ','}"${key}":${printScalar(value)}`
  }
  if (text === '') {
    const names = `[${list.keys.map(quote).join(' ')}]`
    const why = "(and doesn't have default values for any key fields)"
    throw new TypedValueError(
      `associative list with keys has an element that omits all key fields ${names} ${why}`,
    )
  }
  return `k:{${text}}`
}

function valueElement(item: unknown): PathElement {
  if (item === null) {
    throw new TypedValueError("associative list without keys has an element that's an explicit null")
  }
  if (Array.isArray(item)) {
    throw new TypedValueError('not supported: associative list with lists as elements')
  }
  if (typeof item === 'object') {
    throw new TypedValueError("associative list without keys has an element that's a map type")
  }
  return `v:${printScalar(item)}`
}

const special = /[<>&\u2028\u2029]/

function printScalar(value: unknown): string {
  if (typeof value === 'number') return JSON.stringify(value)
  if (typeof value === 'string') {
    const text = JSON.stringify(value)
    return special.test(text) ? printJson(value) : text
  }
  return printJson(value)
}

/** Keys and values that are already in their one form. */
const canonical =
  /^(?:k:\{"[A-Za-z]\w*":(?:"[^"\\<>&\u2028\u2029]*"|0|-?[1-9]\d{0,14})\}|v:"[^"\\<>&\u2028\u2029]*")$/

/**
 * The canonical form of an element of a stored set; `undefined` for an unknown kind of element, which is dropped.
 * Throws a {@link TypedValueError} for an invalid text.
 */
export function readElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new TypedValueError('key must be 2 characters long:')
  if (text[1] !== ':') throw new TypedValueError(`missing colon: ${text}`)
  switch (text[0]) {
    case 'f':
      return text
    case 'k':
      return canonical.test(text) ? text : `k:${printJson(parse(text, true))}`
    case 'v':
      return canonical.test(text) ? text : `v:${printScalar(parse(text, false))}`
    case 'i':
      if (!/^i:[+-]?\d+$/.test(text)) throw new TypedValueError(`invalid index: ${text}`)
      return `i:${parseInt64(text.slice(2)) ?? text.slice(2)}`
    default:
      return undefined
  }
}

/** The JSON after `k:` or `v:`; whole numbers beyond 2^53 are bigints. */
function readExact(text: string): unknown {
  const json = text.slice(2)
  return manyDigits.test(json) ? readJson(encodeText(json), { literals: false }).value : JSON.parse(json)
}

const manyDigits = /\d{16}/

function parse(text: string, isObject: boolean): unknown {
  let value: unknown
  try {
    value = readExact(text)
  } catch {
    throw new TypedValueError(`invalid path element: ${text}`)
  }
  if (isObject && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw new TypedValueError(`invalid path element: ${text}`)
  }
  return value
}

const ranks: Readonly<Record<string, number>> = { '.': 0, f: 1, k: 2, v: 3, i: 4 }

/** Elements of one text each that sort as they are: no character in it comes before the quote that ends it. */
const plain = /^[kv]:(?:\{"\w+":)?"[\w./:-]*"\}?$/

/** The order in which sets are written: fields, then keys, then values, then indices. */
export function compareElements(a: PathElement, b: PathElement): number {
  const first = a.charCodeAt(0)
  const isSame = first === b.charCodeAt(0)
  // UTF-8 order would differ for names beyond the basic plane; it is too slow for an order that is not significant.
  if (isSame && first === 0x66) return a < b ? -1 : a > b ? 1 : 0
  const rank = isSame ? 0 : ranks[a[0]!]! - ranks[b[0]!]!
  if (rank !== 0) return rank
  switch (a[0]) {
    case 'k':
      if (plain.test(a) && plain.test(b)) return a < b ? -1 : a > b ? 1 : 0
      return compareKeys(readExact(a) as Record<string, unknown>, readExact(b) as Record<string, unknown>)
    case 'v':
      if (plain.test(a) && plain.test(b)) return a < b ? -1 : a > b ? 1 : 0
      return compareValues(readExact(a), readExact(b))
    case 'i':
      return Number(a.slice(2)) - Number(b.slice(2))
    default:
      return a < b ? -1 : a > b ? 1 : 0
  }
}

function compareKeys(a: Record<string, unknown>, b: Record<string, unknown>): number {
  const left = Object.keys(a)
  const right = Object.keys(b)
  for (let i = 0; i < left.length && i < right.length; i++) {
    const order =
      compareCodePoints(left[i]!, right[i]!) || compareValues(a[left[i]!] as unknown, b[right[i]!] as unknown)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numbers before texts before booleans before everything else. */
function compareValues(a: unknown, b: unknown): number {
  const rank = valueRank(a) - valueRank(b)
  if (rank !== 0) return rank
  if (typeof a === 'string') return compareCodePoints(a, b as string)
  if (typeof a === 'number' || typeof a === 'bigint')
    return a < (b as number) ? -1 : a > (b as number) ? 1 : 0
  if (typeof a === 'boolean') return Number(a) - Number(b)
  return compareCodePoints(printJson(a), printJson(b))
}

function valueRank(value: unknown): number {
  const type = typeof value
  const rank = ['number', 'string', 'boolean'].indexOf(type === 'bigint' ? 'number' : type)
  return rank < 0 ? 3 : rank
}

/** An element as messages show it: `.name`, `[name="a"]`, `[="a"]`, `[0]`. */
export function printElement(element: PathElement): string {
  const text = element.slice(2)
  switch (element[0]) {
    case 'k': {
      const keys = Object.entries(readExact(element) as Record<string, unknown>)
      return `[${keys.map(([key, value]) => `${key}=${printKey(value)}`).join(',')}]`
    }
    case 'v':
      return `[=${printKey(readExact(element))}]`
    case 'i':
      return `[${text}]`
    default:
      return `.${text}`
  }
}

function printKey(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'string' ? quote(value) : goPrint(value)
}
