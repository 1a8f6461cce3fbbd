import type { FieldError } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { printJson } from '../go/print-value.ts'
import { deepEqual } from '../json/value.ts'
import { compositeValidator } from './composite.ts'
import { Context, isNothing, type Validator } from './context.ts'
import { suspicionOf } from './list-types.ts'
import { enumValidator, numberValidator, stringValidator } from './scalars.ts'
import type { Schema } from './schema.ts'
import { tooDeep } from './too-deep.ts'
import { typeValidator } from './type.ts'

/**
 * The value rules of a schema as closures, in the order and with the wording of the API server. One validator a node,
 * made when a value first reaches it, so cycles need no care.
 */
const validators = new WeakMap<Schema, Validator>()

export function validatorOf(schema: Schema): Validator {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = compile(schema)
    validators.set(schema, validator)
  }
  return validator
}

export interface ValidateOptions {
  /** The path of the value in its object. Messages name fields from the value down, error paths begin here. */
  readonly path?: Path
  /** The value before an update: unchanged errors are not reported again. */
  readonly old?: unknown
}

/** All violations of the schema's value rules. */
export function validateValue(schema: Schema, value: unknown, options?: ValidateOptions): FieldError[] {
  return walkValue(schema, value, options).distinct()
}

/** The same, with what else the walk has seen. */
export function walkValue(schema: Schema, value: unknown, options: ValidateOptions = {}): Context {
  const context = new Context(options.path ?? Path.root)
  try {
    validatorOf(schema)(value, context, options.old)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
  return context
}

function compile(schema: Schema): Validator {
  const type = typeValidator(schema)
  const composite = compositeValidator(schema, validatorOf)
  const text = stringValidator(schema)
  const number = numberValidator(schema)
  const enumeration = enumValidator(schema)
  const list = listValidator(schema)
  const object = objectValidator(schema)
  const expected = composite === undefined ? expectedKinds(schema) : 0

  return (value, context, old) => {
    const before = context.errors.length
    const kind = kindOf(value)
    if (value === null) {
      type?.(value, context)
      enumeration?.(value, context)
    } else {
      if ((kind & expected) !== 0) {
        context.matches += matchesOfType
      } else {
        context.matches += matchesOfNode
        type?.(value, context)
        composite?.(value, context, old)
      }
      context.matches++
      if (kind === TEXT) text?.(value as string, context)
      else if (kind === LIST) list(value as unknown[], context, old)
      else if ((kind & (WHOLE | NUMBER)) !== 0) number(value as number | bigint, context)
      enumeration?.(value, context)
      if (kind === OBJECT) object(value as Record<string, unknown>, context, old)
    }
    // Unchanged values of an update may stay invalid.
    if (context.errors.length > before && old !== undefined && deepEqual(value, old)) {
      context.errors.length = before
    }
  }
}

const OBJECT = 1
const LIST = 2
const TEXT = 4
/** A whole number that every integer type can hold. */
const WHOLE = 8
const NUMBER = 16
const OTHER = 32

/** Passed checks of any node, and of one whose type is right. */
const matchesOfNode = 3
const matchesOfType = 5

function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'object':
      return Array.isArray(value) ? LIST : OBJECT
    case 'string':
      return TEXT
    case 'number':
      return (value | 0) === value ? WHOLE : NUMBER
    case 'bigint':
      return NUMBER
    default:
      return OTHER
  }
}

/** The kinds of values whose type is sure to be right: the usual case, which needs no closer look. */
function expectedKinds(schema: Schema): number {
  if (schema['x-kubernetes-int-or-string'] === true) return TEXT | WHOLE
  switch (schema.type) {
    case 'object':
      return OBJECT
    case 'array':
      return LIST
    case 'integer':
      return WHOLE
    case 'number':
      return WHOLE | NUMBER
    case 'string':
      return TEXT
    default:
      return 0
  }
}

function listValidator(schema: Schema): (list: unknown[], context: Context, old: unknown) => void {
  const { items, minItems, maxItems, uniqueItems } = schema
  const member = items === undefined ? undefined : new Member(items)
  const isSuspicious = suspicionOf(schema)
  return (list, context, old) => {
    if (isSuspicious?.(list)) context.suspicious = true
    if (member !== undefined) {
      const validate = member.validator
      const correlate = Array.isArray(old) ? correlator(schema, old) : undefined
      for (let i = 0; i < list.length; i++) {
        context.path.push(i)
        validate(list[i], context, correlate?.(list[i]))
        context.path.pop()
      }
    }
    context.matches++
    if (minItems !== undefined && list.length < minItems) {
      context.invalid(list.length, `should have at least ${minItems} items`)
    }
    if (maxItems !== undefined && list.length > maxItems) context.tooMany(list.length, maxItems)
    if (uniqueItems === true && hasEqualItems(list)) context.invalid('', "shouldn't contain duplicates")
  }
}

/** Finds the old item that a new one replaces. Only items of a list map have such a one. */
function correlator(schema: Schema, old: readonly unknown[]): ((item: unknown) => unknown) | undefined {
  const keys = schema['x-kubernetes-list-map-keys']
  if (schema['x-kubernetes-list-type'] !== 'map' || keys === undefined) return undefined
  const keyOf = (item: unknown) =>
    JSON.stringify(keys.map(key => (isObject(item) ? String(item[key]) + typeof item[key] : undefined)))
  const byKey = new Map(old.map(item => [keyOf(item), item]))
  return item => byKey.get(keyOf(item))
}

function hasEqualItems(list: readonly unknown[]): boolean {
  return new Set(list.map(item => printJson(item))).size < list.length
}

/** A field or the other members of an object: its validator is made when a value first reaches it. */
class Member {
  readonly #schema: Schema
  #validator: Validator | undefined
  /** The one JSON type that is all the schema asks for: values of that type need no further look. */
  readonly plainType: string | undefined
  /** There is nothing to check. */
  readonly free: boolean

  constructor(schema: Schema) {
    this.#schema = schema
    this.plainType = plainTypeOf(schema)
    this.free = isNothing(schema)
  }

  get validator(): Validator {
    this.#validator ??= validatorOf(this.#schema)
    return this.#validator
  }
}

/** Passed checks of a plain scalar, which count like any others. */
const plainMatches = 6

function plainTypeOf(schema: Schema): string | undefined {
  for (const keyword in schema) if (!isProse(keyword)) return undefined
  return schema.type === 'string' || schema.type === 'boolean' ? schema.type : undefined
}

function isProse(keyword: string): boolean {
  return keyword === 'type' || keyword === 'description' || keyword === 'default' || keyword === 'name'
}

function objectValidator(
  schema: Schema,
): (object: Record<string, unknown>, context: Context, old: unknown) => void {
  const { required, minProperties, maxProperties, additionalProperties } = schema
  const members = new Map(
    Object.entries(schema.properties ?? {}).map(([key, property]) => [key, new Member(property)]),
  )
  const additional = typeof additionalProperties === 'object' ? new Member(additionalProperties) : undefined
  return (object, context, old) => {
    const before = isObject(old) ? old : undefined
    if (minProperties !== undefined || maxProperties !== undefined) {
      const count = Object.keys(object).length
      if (minProperties !== undefined && count < minProperties) {
        context.invalid(count, `should have at least ${minProperties} properties`)
      }
      if (maxProperties !== undefined && count > maxProperties) context.tooMany(count, maxProperties)
    }
    for (const key in object) {
      const member = members.get(key) ?? additional
      if (member === undefined) {
        if (additionalProperties === false && object[key] !== undefined) context.forbidden(key)
        continue
      }
      const value = object[key]
      if (typeof value === member.plainType) {
        context.matches += plainMatches
        continue
      }
      if (value === undefined || member.free) continue
      context.path.push(key)
      member.validator(
        value,
        context,
        before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined,
      )
      context.path.pop()
    }
    if (required === undefined) return
    for (const key of required) {
      if (object[key] === undefined || !Object.hasOwn(object, key)) context.required(key)
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
