/**
 * Reads JSON as a built-in kind the way Kubernetes reads it into its Go types and writes it again: members come out in
 * the order of the type, unknown ones are dropped and reported, null is absence, empty values go where Go would leave them
 * out and appear where Go would not, quantities and times get their canonical form, amounts of resources their precision.
 *
 *   value -> struct by struct -> { object, unknown fields }
 *                    | a wrong type
 *                    +-> MachineryError BadJson: `json: cannot unmarshal string into Go struct field ...`
 *                    | more list elements than maxElements
 *                    +-> StatusError 413
 */
import { MachineryError } from '@coxswain/apimachinery/errors'
import { type Literals, setMember } from '@coxswain/apimachinery/json'
import { canonicalizeQuantity, parseQuantity } from '@coxswain/apimachinery/quantity'
import { newRequestEntityTooLarge } from '@coxswain/apimachinery/status'
import { findTable, findType } from '../registry.ts'
import {
  type FieldRow,
  jsonFields,
  rowOf,
  type TypeExpression,
  type TypeRow,
  typeRows,
} from '../table/table.ts'
import { normalizeBase64, normalizeTime } from './scalars.ts'

/** A decoded object of a built-in kind. */
export interface DecodedBuiltin {
  readonly object: Record<string, unknown>
  /** Paths of members that the kind does not have: `spec.containers[0].foo`. */
  readonly unknown: readonly string[]
}

/** Options of {@link decodeBuiltin}. */
export interface DecodeBuiltinOptions {
  /** The spelling of unusual numbers, from `readJson`. */
  readonly literals?: Literals | undefined
}

/** Throws a MachineryError `BadJson` for a member of the wrong type, a 413 for lists that are too long. */
export function decodeBuiltin(
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  value: unknown,
  options: DecodeBuiltinOptions = {},
): DecodedBuiltin {
  const table = findTable(kind.group, kind.version)
  const row = table && typeRows(table).get(kind.kind)
  if (!row) throw new Error(`no built-in kind ${kind.kind} in ${kind.group}/${kind.version}`)
  const decoder = new Decoder(options.literals)
  const object = decoder.struct(row, value, { struct: '', names: '', path: '' })
  return { object: object as Record<string, unknown>, unknown: decoder.unknown }
}

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** The same for the metadata of a custom resource. Unknown members are reported as `metadata.foo`. */
export function decodeObjectMeta(value: unknown, options: DecodeBuiltinOptions = {}): DecodedBuiltin {
  const decoder = new Decoder(options.literals)
  const object = decoder.struct(findType(objectMeta)!, value, { struct: '', names: '', path: 'metadata' })
  return { object: object as Record<string, unknown>, unknown: decoder.unknown }
}

/** Where a value stands: in which struct's field, and how messages and strict errors name the place. */
interface Place {
  readonly struct: string
  /** Field names alone, as Go's messages have them: `spec.containers.name`. */
  readonly names: string
  /** With indexes, as strict decoding has them: `spec.containers[0].name`. */
  readonly path: string
  readonly holder?: object
  readonly key?: string | number
}

/** More unknown fields than this are not reported. */
const unknownLimit = 100

/**
 * How many elements the lists of an object may have together, strings aside. Upstream has no such limit, but cannot
 * store such an object either; a body of 3 MiB has room for a million empty containers, each with its defaults.
 */
export const maxElements = 100_000

/** What can be said of a field before its value is known; most fields of most objects are absent, or plain scalars. */
interface FieldPlan {
  readonly field: FieldRow
  readonly name: string
  /** The `typeof` of a value that needs no look inside; empty where there is none. */
  readonly scalar: 'string' | 'boolean' | ''
  /** Whether a number within 32 bits needs no look either, where its spelling is not in question. */
  readonly isInteger: boolean
  /** Whether a scalar that is empty goes. */
  readonly dropsEmpty: boolean
  /** Whether absence is an empty struct, and not {@link absent}. */
  readonly isStruct: boolean
  /** Whether it is a `ResourceList` of core/v1. */
  readonly isResourceList: boolean
  readonly absent: unknown
}

interface Shape {
  readonly fields: readonly FieldPlan[]
  readonly byName: ReadonlyMap<string, FieldPlan>
}

function planOf(row: TypeRow, field: FieldRow): FieldPlan {
  const { type, omit, json: name } = field
  const basic = type.form === 'basic' ? type.basic : ''
  return {
    field,
    name,
    scalar: basic === 'string' ? 'string' : basic === 'bool' ? 'boolean' : '',
    isInteger: basic === 'int32' || basic === 'int64',
    dropsEmpty: omit !== 'never' && type.form === 'basic' && !type.pointer,
    isStruct: isStructValue(type),
    isResourceList: isResourceList(row, type),
    absent: omit === 'never' ? zeroOf(type) : specialZero(type, omit),
  }
}

/** For absent values, whose place is never reported. */
const nowhere: Place = { struct: '', names: '', path: '' }

const shapes = new WeakMap<TypeRow, Shape>()

function shapeOf(row: TypeRow): Shape {
  let shape = shapes.get(row)
  if (!shape) {
    const fields = jsonFields(row).map(field => planOf(row, field))
    shape = { fields, byName: new Map(fields.map(plan => [plan.name, plan])) }
    shapes.set(row, shape)
  }
  return shape
}

class Decoder {
  readonly unknown: string[] = []
  readonly #literals: Literals | undefined
  #elements = 0

  constructor(literals: Literals | undefined) {
    this.#literals = literals
  }

  /** A struct; the members that null or absence leave empty are filled in as Go's zero values would be written. */
  struct(row: TypeRow, value: unknown, place: Place): unknown {
    if (row.isSpecial) return row.short.startsWith(schemaOr) ? readSchemas(row, value) : value
    if (value !== null && value !== undefined && !isMap(value)) throw wrongType(value, goName(row), place)
    const source = (value ?? {}) as Record<string, unknown>
    const { fields, byName } = shapeOf(row)
    for (const key of Object.keys(source)) {
      if (!byName.has(key) && this.unknown.length < unknownLimit) this.unknown.push(join(place.path, key))
    }
    const object: Record<string, unknown> = {}
    for (let i = 0; i < fields.length; i++) {
      const plan = fields[i]!
      const { name } = plan
      const given = Object.hasOwn(source, name) ? source[name] : undefined
      let decoded: unknown
      if (given === undefined || given === null) {
        decoded = plan.isStruct ? this.#field(plan.field, undefined, nowhere) : plan.absent
      } else if (plan.scalar === typeof given) {
        decoded = plan.dropsEmpty && (given === '' || given === false) ? undefined : given
      } else if (plan.isInteger && !this.#literals && typeof given === 'number' && given === (given | 0)) {
        decoded = plan.dropsEmpty && given === 0 ? undefined : given
      } else {
        decoded = this.#field(plan.field, given, {
          struct: row.short,
          names: join(place.names, name),
          path: join(place.path, name),
          holder: source,
          key: name,
        })
        if (plan.isResourceList && decoded) roundAmounts(decoded as Record<string, string>)
      }
      if (decoded !== undefined) object[name] = decoded
    }
    return object
  }

  /** The written form of a field; undefined when Go leaves it out. */
  #field(field: FieldRow, given: unknown, place: Place): unknown {
    const { type, omit } = field
    const decoded = given === undefined || given === null ? undefined : this.value(type, given, place)
    if (decoded === undefined) {
      if (isStructValue(type)) {
        const empty = this.struct(rowOf(type), undefined, place)
        return omit === 'zero' && isEmptyObject(empty) ? undefined : empty
      }
      return omit === 'never' ? zeroOf(type) : specialZero(type, omit)
    }
    if (omit === 'zero' && isStructValue(type) && isEmptyObject(decoded)) return undefined
    if (!isOmitted(type, decoded)) return decoded
    if (place.struct === 'HPAScalingRules' && field.json === 'policies') return decoded // defaults tell it from none
    // Upstream stores protobuf, which does not tell an empty list from none.
    if (omit === 'never') return type.form === 'list' || type.form === 'map' ? null : decoded
    return undefined
  }

  value(type: TypeExpression, value: unknown, place: Place): unknown {
    switch (type.form) {
      case 'basic':
        return this.#basic(type.basic, value, place)
      case 'special':
        return special(type.special, value, place)
      case 'ref':
        return this.struct(rowOf(type), value, place)
      case 'list':
        if (!Array.isArray(value)) throw wrongType(value, goType(type), place)
        return this.#list(type.element, value, place)
      case 'map': {
        if (!isMap(value)) throw wrongType(value, goType(type), place)
        const map: Record<string, unknown> = {}
        const isText = isStringType(type.element)
        for (const key of Object.keys(value).sort()) {
          const item = value[key]
          const isPlain = isText && typeof item === 'string'
          setMember(map, key, isPlain ? item : this.#element(type.element, item, inMap(place, value, key)))
        }
        return map
      }
    }
  }

  #list(element: TypeExpression, items: readonly unknown[], place: Place): unknown[] {
    const isText = isStringType(element)
    if (!isText) this.#elements += items.length
    if (this.#elements > maxElements)
      throw newRequestEntityTooLarge(`the lists of an object may have ${maxElements} elements altogether`)
    const list: unknown[] = []
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      const isPlain = isText && typeof item === 'string'
      list.push(isPlain ? item : this.#element(element, item, inList(place, items, i)))
    }
    return list
  }

  /** A null element is the zero value of its type. */
  #element(type: TypeExpression, value: unknown, place: Place): unknown {
    if (value !== null && value !== undefined) return this.value(type, value, place)
    return isStructValue(type) ? this.struct(rowOf(type), undefined, place) : zeroOf(type)
  }

  #basic(basic: string, value: unknown, place: Place): unknown {
    switch (basic) {
      case 'any':
        return value
      case 'string':
        if (typeof value !== 'string') throw wrongType(value, 'string', place)
        return value
      case 'bytes':
        if (typeof value !== 'string') throw wrongType(value, '[]uint8', place)
        return normalizeBase64(value)
      case 'bool':
        if (typeof value !== 'boolean') throw wrongType(value, 'bool', place)
        return value
      case 'float64':
        if (typeof value !== 'number' && typeof value !== 'bigint') throw wrongType(value, 'float64', place)
        return value
      default:
        return this.#integer(basic, value, place)
    }
  }

  #integer(basic: string, value: unknown, place: Place): unknown {
    if (typeof value !== 'number' && typeof value !== 'bigint') throw wrongType(value, basic, place)
    // Within 32 bits, as nearly all of them.
    if (typeof value === 'number' && !this.#literals && value === (value | 0)) return value
    const literal = place.holder && this.#literals?.get(place.holder)?.get(place.key as string)
    const whole = literal === undefined && (typeof value === 'bigint' || Number.isInteger(value))
    const limit = basic === 'int32' ? 2n ** 31n : 2n ** 63n
    if (!whole || BigInt(value) >= limit || BigInt(value) < -limit) {
      throw wrongNumber(literal ?? String(value), basic, place)
    }
    return value
  }
}

/** The other maps of quantities belong to groups that upstream does not round. */
function isResourceList({ table }: TypeRow, type: TypeExpression): boolean {
  if (type.form !== 'map' || type.element.form !== 'special' || type.element.special !== 'quantity')
    return false
  return table.group === '' && table.version === 'v1'
}

/** Upstream's defaults round amounts of resources up to thousandths. */
function roundAmounts(amounts: Record<string, string>): void {
  for (const [name, amount] of Object.entries(amounts)) {
    if (finerThanMilli.test(amount)) amounts[name] = parseQuantity(amount).roundUp(-3).toString()
  }
}

const finerThanMilli = /[nu]$|e-[69]$/

function isStringType(type: TypeExpression): boolean {
  return type.form === 'basic' && type.basic === 'string'
}

function inList({ struct, names, path }: Place, holder: object, key: number): Place {
  return { struct, names, path: `${path}[${key}]`, holder, key }
}

function inMap({ struct, names, path }: Place, holder: object, key: string): Place {
  return { struct, names, path: join(path, key), holder, key }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmptyObject(value: unknown): boolean {
  return isMap(value) && Object.keys(value).length === 0
}

type StructReference = Extract<TypeExpression, { form: 'ref' }>

/** A struct that is a value, not a pointer: Go writes it even when it is empty. */
function isStructValue(type: TypeExpression): type is StructReference {
  return type.form === 'ref' && !type.pointer && !rowOf(type).isSpecial
}

/** What Go writes for a value that was never set. */
function zeroOf(type: TypeExpression): unknown {
  if (type.form === 'list' || type.form === 'map' || type.form === 'ref' || type.pointer) return null
  if (type.form === 'special') return type.special === 'quantity' ? '0' : type.special === 'intstr' ? 0 : null
  return type.basic === 'string'
    ? ''
    : type.basic === 'bool'
      ? false
      : type.basic === 'bytes' || type.basic === 'any'
        ? null
        : 0
}

/** `omitempty` does not leave out structs, and quantities, times and durations are structs. */
function specialZero(type: TypeExpression, omit: FieldRow['omit']): unknown {
  if (
    type.form !== 'special' ||
    type.pointer ||
    omit !== 'empty' ||
    type.special === 'raw' ||
    type.special === 'fields'
  )
    return undefined
  return zeroOf(type)
}

/** Whether `omitempty` leaves a value out. */
function isOmitted(type: TypeExpression, value: unknown): boolean {
  switch (type.form) {
    case 'list':
      return (value as unknown[]).length === 0
    case 'map':
      return isEmptyObject(value)
    case 'basic':
      return !type.pointer && (value === '' || value === 0 || value === false || value === 0n)
    default:
      return false
  }
}

/** `items`, `additionalProperties` and `dependencies` of a schema: a schema, a list of them, or something else. */
const schemaOr = 'JSONSchemaPropsOr'

/** Upstream reads such a schema apart from the rest, and tells nothing of unknown fields in it. */
function readSchemas(row: TypeRow, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => (item === null ? {} : readSchemas(row, item)))
  if (!isMap(value)) return value
  return new Decoder(undefined).struct(typeRows(row.table).get('JSONSchemaProps')!, value, nowhere)
}

function special(type: string, value: unknown, place: Place): unknown {
  switch (type) {
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')
        throw badQuantity()
      try {
        return canonicalizeQuantity(value)
      } catch {
        throw badQuantity()
      }
    case 'time':
      if (typeof value !== 'string') throw wrongType(value, 'string', { ...place, struct: '' })
      return normalizeTime(value, false)
    case 'microtime':
      if (typeof value !== 'string') throw wrongType(value, 'string', { ...place, struct: '' })
      return normalizeTime(value, true)
    case 'intstr':
      if (typeof value === 'string') return value
      if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value
      throw wrongType(value, 'int32', place)
    default:
      return value
  }
}

function badQuantity(): MachineryError {
  return new MachineryError(
    'BadJson',
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  )
}

/** `v1.PodSpec`: Go names a type by its package, which is named after the version. */
function goName(row: TypeRow): string {
  return `${row.table.version || 'v1'}.${row.short}`
}

function goType(type: TypeExpression): string {
  switch (type.form) {
    case 'list':
      return `[]${goType(type.element)}`
    case 'map':
      return `map[string]${goType(type.element)}`
    case 'ref':
      return goName(rowOf(type))
    case 'special':
      return type.special === 'quantity'
        ? 'resource.Quantity'
        : type.special === 'intstr'
          ? 'intstr.IntOrString'
          : `v1.${type.special}`
    default:
      return type.basic === 'bytes' ? '[]uint8' : type.basic === 'any' ? 'interface {}' : type.basic
  }
}

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function wrongType(value: unknown, type: string, place: Place): MachineryError {
  return new MachineryError(
    'BadJson',
    `json: cannot unmarshal ${jsonTypeOf(value)} into Go ${target(place)} of type ${type}`,
  )
}

function wrongNumber(text: string, type: string, place: Place): MachineryError {
  return new MachineryError(
    'BadJson',
    `json: cannot unmarshal number ${text} into Go ${target(place)} of type ${type}`,
  )
}

function target({ struct, names }: Place): string {
  return struct === '' ? 'value' : `struct field ${struct}.${names}`
}
