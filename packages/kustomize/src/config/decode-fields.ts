import { isObject } from '@coxswain/apimachinery/json'
import { buildFailed } from '../errors.ts'
import { printGoFloat } from '../yaml/number.ts'

/** The type of a field, by which configuration is read. */
export type FieldType =
  | 'string'
  | 'boolean'
  | 'integer'
  | 'any'
  | { readonly listOf: FieldType }
  | { readonly mapOf: 'string' }
  | { readonly fields: Fields }

export type Fields = Readonly<Record<string, FieldType>>

/** `strict` is for kustomization files: no unknown fields, no numbers where a text belongs. */
export type DecodeMode = 'strict' | 'strict names' | 'lenient'

/** The value with the names of the type; what is null or absent is left out. Throws for what does not fit. */
export function decodeFields(value: unknown, type: FieldType, mode: DecodeMode): unknown {
  return decode(value, { type, mode, path: '' })
}

interface Context {
  readonly type: FieldType
  readonly mode: DecodeMode
  readonly path: string
}

function decode(value: unknown, context: Context): unknown {
  if (value === null || value === undefined) return undefined
  const { type, path } = context
  if (typeof type === 'string') return decodeScalar(value, context)
  if ('listOf' in type) {
    if (!Array.isArray(value)) throw misfit(value, path, 'a list')
    return value.map(
      (item, at) =>
        decode(item, { ...context, type: type.listOf, path: `${path}[${at}]` }) ?? zero(type.listOf),
    )
  }
  if (!isObject(value)) throw misfit(value, path, 'an object')
  if ('mapOf' in type) {
    const entries = Object.entries(value).map(
      ([key, member]) =>
        [key, decode(member, { ...context, type: 'string', path: `${path}.${key}` }) ?? ''] as const,
    )
    return new Map(entries)
  }
  return decodeObject(value, type.fields, context)
}

function decodeObject(value: Readonly<Record<string, unknown>>, fields: Fields, context: Context): unknown {
  const { mode, path } = context
  const result: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    const name = Object.hasOwn(fields, key)
      ? key
      : Object.keys(fields).find(each => each.toLowerCase() === key.toLowerCase())
    if (name === undefined) {
      if (mode !== 'lenient')
        throw buildFailed(`json: unknown field "${path === '' ? '' : `${path.slice(1)}.`}${key}"`)
      continue
    }
    const decoded = decode(member, { ...context, type: fields[name]!, path: `${path}.${name}` })
    if (decoded !== undefined) result[name] = decoded
  }
  return result
}

const zero = (type: FieldType): unknown =>
  type === 'string'
    ? ''
    : type === 'boolean'
      ? false
      : type === 'integer'
        ? 0
        : typeof type === 'object' && 'fields' in type
          ? {}
          : undefined

function decodeScalar(value: unknown, { type, mode, path }: Context): unknown {
  switch (type) {
    case 'any':
      return value
    case 'boolean':
      if (typeof value === 'boolean') return value
      throw misfit(value, path, 'true or false')
    case 'integer':
      if (typeof value === 'bigint' || Number.isInteger(value)) return value
      throw misfit(value, path, 'a whole number')
    default:
      if (typeof value === 'string') return value
      if (mode !== 'strict' && typeof value === 'boolean') return String(value)
      if (mode !== 'strict' && typeof value === 'bigint') return String(value)
      if (mode !== 'strict' && typeof value === 'number')
        return Number.isSafeInteger(value) ? String(value) : printGoFloat(value)
      throw misfit(value, path, 'a string')
  }
}

function misfit(value: unknown, path: string, wanted: string): Error {
  const actual = Array.isArray(value)
    ? 'a list'
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`
  return buildFailed(`json: cannot unmarshal ${actual} into field "${path.slice(1)}": ${wanted} is needed`)
}
