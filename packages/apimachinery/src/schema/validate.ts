import { MachineryError } from '../errors.ts'
import type { FieldError } from '../field/error.ts'
import { Path } from '../field/path.ts'
import { deepEqual } from '../json/value.ts'
import type { Schema } from '../schema.ts'
import { compositeValidator } from './composite.ts'
import { Context, isNothing, type Validator } from './context.ts'
import { enumValidator, numberValidator, stringValidator } from './scalars.ts'
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
  /** Where the value is in its object. Messages name fields from the value down, error paths begin here. */
  readonly path?: Path
  /** The value before an update: what was wrong and has not changed is not reported again. */
  readonly old?: unknown
}

/** All that the schema's value rules have against `value`. */
export function validateValue(schema: Schema, value: unknown, options: ValidateOptions = {}): FieldError[] {
  const context = new Context(options.path ?? Path.root)
  try {
    validatorOf(schema)(value, context, options.old)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
  return context.distinct()
}

export function tooDeep(): MachineryError {
  return new MachineryError('TooDeep', 'the value is nested too deeply for its recursive schema')
}

function compile(schema: Schema): Validator {
  const type = typeValidator(schema)
  const composite = compositeValidator(schema, validatorOf)
  const text = stringValidator(schema)
  const number = numberValidator(schema)
  const enumeration = enumValidator(schema)
  const list = listValidator(schema)
  const object = objectValidator(schema)

  return (value, context, old) => {
    const before = context.errors.length
    if (value === null) {
      type?.(value, context)
      enumeration?.(value, context)
    } else {
      context.matches += 3
      type?.(value, context)
      composite?.(value, context, old)
      switch (typeof value) {
        case 'string':
          context.matches++
          text?.(value, context)
          break
        case 'number':
        case 'bigint':
          context.matches += 2
          number(value, context)
          break
        case 'object':
          context.matches++
          if (Array.isArray(value)) list(value, context, old)
          break
      }
      enumeration?.(value, context)
      if (typeof value === 'object' && !Array.isArray(value)) {
        object(value as Record<string, unknown>, context, old)
      }
    }
    // What was there before the update and has not changed may stay.
    if (context.errors.length > before && old !== undefined && deepEqual(value, old)) {
      context.errors.length = before
    }
  }
}

function listValidator(schema: Schema): (list: unknown[], context: Context, old: unknown) => void {
  const { items, minItems, maxItems, uniqueItems } = schema
  return (list, context, old) => {
    if (items !== undefined) {
      const validate = validatorOf(items)
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
  return list.some((item, i) => list.slice(0, i).some(other => deepEqual(item, other)))
}

function objectValidator(
  schema: Schema,
): (object: Record<string, unknown>, context: Context, old: unknown) => void {
  const { required, minProperties, maxProperties, additionalProperties } = schema
  const properties = schema.properties ?? {}
  const known = new Map(Object.entries(properties))
  const additional = typeof additionalProperties === 'object' ? additionalProperties : undefined
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
      const member = object[key]
      if (member === undefined) continue
      const property = known.get(key) ?? additional
      if (property === undefined) {
        if (additionalProperties === false) context.forbidden(key)
        continue
      }
      if (isNothing(property)) continue
      context.path.push(key)
      validatorOf(property)(
        member,
        context,
        before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined,
      )
      context.path.pop()
    }
    if (required === undefined) return
    for (const key of required)
      if (!Object.hasOwn(object, key) || object[key] === undefined) context.required(key)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
