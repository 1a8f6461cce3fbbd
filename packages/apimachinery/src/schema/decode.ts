import { isMachineryError } from '../errors.ts'
import type { Literals } from '../json/exact-reader.ts'
import { parseTime } from '../time/time.ts'
import type { Schema } from './schema.ts'
import { tooDeep } from './too-deep.ts'

export interface DecodeOptions {
  /** From the strict reader: lets a `1.0` for an integer be refused. */
  readonly literals?: Literals
}

/**
 * What decoding into Kubernetes' Go types does to a value of a built-in kind, in place: null is as good as absent (an
 * item of a list becomes its zero value), and the first value of a wrong JSON type is an error in the words of Go's
 * decoder, which is returned. Undefined when all is well.
 */
export function decodeTyped(schema: Schema, value: unknown, options: DecodeOptions = {}): string | undefined {
  const walk: Walk = { fields: [], struct: '', literals: options.literals }
  try {
    return visit(schema, value, walk, undefined)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
}

interface Walk {
  /** JSON names from the root down; list indices and map keys are not part of Go's messages. */
  readonly fields: string[]
  /** The Go name of the struct that has the present field. */
  struct: string
  readonly literals: Literals | undefined
}

/** What every visitor returns: the first error. */
type Problem = string | undefined

/** Where a value is held, to look up how it was spelt. */
type Holder = readonly [container: object, key: string | number] | undefined

function visit(schema: Schema, value: unknown, walk: Walk, holder: Holder): Problem {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') {
    return expectIntOrString(value, walk, holder)
  }
  switch (schema.type) {
    case 'object':
      return visitObject(schema, value, walk)
    case 'array':
      return visitArray(schema, value, walk)
    case 'string':
      return expectString(schema, value, walk)
    case 'boolean':
      return typeof value === 'boolean' ? undefined : fail(schema, value, walk)
    case 'integer':
      return expectInteger(schema, value, walk, holder)
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? undefined : fail(schema, value, walk)
    default:
      return undefined
  }
}

function visitObject(schema: Schema, value: unknown, walk: Walk): Problem {
  const free = schema['x-kubernetes-preserve-unknown-fields'] === true && schema.properties === undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return free && isRaw(schema) ? undefined : fail(schema, value, walk)
  }
  if (free) return undefined
  const object = value as Record<string, unknown>
  const { properties, additionalProperties } = schema
  if (properties === undefined) {
    return typeof additionalProperties === 'object' ? visitMap(additionalProperties, object, walk) : undefined
  }
  const outer = walk.struct
  for (const key in object) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property === undefined) continue
    if (object[key] === null) {
      delete object[key]
      continue
    }
    walk.struct = lastPart(schema.name) ?? outer
    walk.fields.push(key)
    const problem = visit(property, object[key], walk, [object, key])
    walk.fields.pop()
    if (problem !== undefined) return problem
  }
  walk.struct = outer
  return undefined
}

function visitMap(schema: Schema, object: Record<string, unknown>, walk: Walk): Problem {
  for (const key in object) {
    if (object[key] === null) {
      object[key] = zeroValue(schema)
      continue
    }
    const problem = visit(schema, object[key], walk, [object, key])
    if (problem !== undefined) return problem
  }
  return undefined
}

function visitArray(schema: Schema, value: unknown, walk: Walk): Problem {
  if (!Array.isArray(value)) return fail(schema, value, walk)
  const { items } = schema
  if (items === undefined) return undefined
  for (let i = 0; i < value.length; i++) {
    if (value[i] === null) {
      value[i] = zeroValue(items)
      continue
    }
    const problem = visit(items, value[i], walk, [value, i])
    if (problem !== undefined) return problem
  }
  return undefined
}

function zeroValue(schema: Schema): unknown {
  if (schema['x-kubernetes-int-or-string'] === true) return 0
  switch (schema.type) {
    case 'string':
      return isTime(schema) ? null : lastPart(schema.name) === 'Quantity' ? '0' : ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 0
    case 'object':
      return schema.properties === undefined ? null : {}
    default:
      return null
  }
}

function expectString(schema: Schema, value: unknown, walk: Walk): Problem {
  if (typeof value === 'string') {
    if (isTime(schema)) return timeError(value)
    return schema.format === 'byte' ? base64Error(value) : undefined
  }
  // A quantity may be written as a number.
  if (lastPart(schema.name) === 'Quantity' && (typeof value === 'number' || typeof value === 'bigint')) {
    return undefined
  }
  if (isTime(schema) || lastPart(schema.name) === 'Duration') {
    return `json: cannot unmarshal ${describe(value)} into Go value of type string`
  }
  return fail(schema, value, walk)
}

function expectInteger(schema: Schema, value: unknown, walk: Walk, holder: Holder): Problem {
  if (typeof value === 'bigint') {
    return schema.format === 'int32' ? failNumber(schema, value.toString(), walk) : undefined
  }
  if (typeof value !== 'number') return fail(schema, value, walk)
  const literal = spelling(walk, holder)
  if (literal !== undefined || !Number.isInteger(value))
    return failNumber(schema, literal ?? String(value), walk)
  if (schema.format === 'int32' && !fitsInt32(value)) return failNumber(schema, String(value), walk)
  return undefined
}

function expectIntOrString(value: unknown, walk: Walk, holder: Holder): Problem {
  if (typeof value === 'string') return undefined
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    return `json: cannot unmarshal ${describe(value)} into Go value of type int32`
  }
  const literal = spelling(walk, holder)
  if (literal === undefined && Number.isInteger(Number(value)) && fitsInt32(value)) return undefined
  return `json: cannot unmarshal number ${literal ?? value} into Go value of type int32`
}

function fitsInt32(value: number | bigint): boolean {
  return value >= -(2 ** 31) && value < 2 ** 31
}

function spelling(walk: Walk, holder: Holder): string | undefined {
  return holder === undefined ? undefined : walk.literals?.get(holder[0])?.get(holder[1])
}

function fail(schema: Schema, value: unknown, walk: Walk): string {
  return typeError(describe(value), schema, walk)
}

function failNumber(schema: Schema, literal: string, walk: Walk): string {
  return typeError(`number ${literal}`, schema, walk)
}

function typeError(found: string, schema: Schema, walk: Walk): string {
  const where = walk.fields.length === 0 ? 'value' : `struct field ${walk.struct}.${walk.fields.join('.')}`
  return `json: cannot unmarshal ${found} into Go ${where} of type ${goType(schema)}`
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
    case 'bigint':
      return 'number'
    default:
      return Array.isArray(value) ? 'array' : value === null ? 'null' : 'object'
  }
}

/** `[]v1.Container`, `map[string]string`, `int32`: the Go type as messages print it. */
function goType(schema: Schema): string {
  const { name } = schema
  if (name !== undefined) {
    const parts = name.split('.')
    return parts.length < 2 ? name : `${parts.at(-2)}.${parts.at(-1)}`
  }
  switch (schema.type) {
    case 'array':
      return `[]${schema.items === undefined ? 'interface {}' : goType(schema.items)}`
    case 'object': {
      const { additionalProperties } = schema
      return `map[string]${typeof additionalProperties === 'object' ? goType(additionalProperties) : 'interface {}'}`
    }
    case 'integer':
      return schema.format === 'int32' ? 'int32' : 'int64'
    case 'number':
      return schema.format === 'float' ? 'float32' : 'float64'
    case 'boolean':
      return 'bool'
    default:
      return 'string'
  }
}

function lastPart(name: string | undefined): string | undefined {
  return name?.slice(name.lastIndexOf('.') + 1)
}

/** Types that keep whatever JSON they are given, objects or not. */
function isRaw(schema: Schema): boolean {
  const last = lastPart(schema.name)
  return last === 'RawExtension' || last === 'JSON' || last === undefined
}

function isTime(schema: Schema): boolean {
  return schema.format === 'date-time'
}

function timeError(text: string): string | undefined {
  try {
    parseTime(text)
    return undefined
  } catch (error) {
    if (isMachineryError(error, 'BadTime')) return error.message
    throw error
  }
}

function base64Error(text: string): string | undefined {
  const clean = text.replace(/[\r\n]/g, '')
  const bad = clean.search(/[^A-Za-z0-9+/=]/)
  if (bad >= 0) return `illegal base64 data at input byte ${bad}`
  const padding = clean.indexOf('=')
  const digits = padding < 0 ? clean.length : padding
  if (clean.length % 4 !== 0 || !/^=*$/.test(clean.slice(digits)) || clean.length - digits > 2) {
    return `illegal base64 data at input byte ${clean.length % 4 === 0 ? digits : clean.length - (clean.length % 4)}`
  }
  return undefined
}
