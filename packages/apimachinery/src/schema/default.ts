import { deepClone, setMember } from '../json/value.ts'
import { reaches } from './list-types.ts'
import type { Schema } from './schema.ts'
import { tooDeep } from './too-deep.ts'

/**
 * Fills in what the schema has defaults for, in place: absent fields, and null where null is not allowed. A default that
 * is an object is then completed by the defaults below it.
 */
export function applyDefaults(schema: Schema, value: unknown): void {
  try {
    visit(schema, value)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
}

interface Plan {
  /** Properties that have a default. */
  readonly defaults: readonly (readonly [key: string, schema: Schema])[]
  /** Properties with defaults somewhere below them. */
  readonly nested: readonly (readonly [key: string, schema: Schema])[]
  readonly additional: Schema | undefined
  readonly known: ReadonlySet<string>
  readonly items: Schema | undefined
}

const plans = new WeakMap<Schema, Plan | null>()
const memory = new WeakMap<Schema, boolean>()

function hasDefault(schema: Schema): boolean {
  return schema.default !== undefined && schema.default !== null
}

/** Null for a schema that has no default anywhere: nothing below it is looked at. */
function planOf(schema: Schema): Plan | null {
  let plan = plans.get(schema)
  if (plan === undefined) {
    plan = reaches(schema, memory, hasDefault) ? makePlan(schema) : null
    plans.set(schema, plan)
  }
  return plan
}

function makePlan(schema: Schema): Plan {
  const entries = Object.entries(schema.properties ?? {})
  const { additionalProperties, items } = schema
  return {
    defaults: entries.filter(([, property]) => hasDefault(property)),
    nested: entries.filter(([, property]) => planOf(property) !== null),
    additional: typeof additionalProperties === 'object' ? additionalProperties : undefined,
    known: new Set(entries.map(([key]) => key)),
    items,
  }
}

function visit(schema: Schema, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const plan = planOf(schema)
  if (plan === null) return
  if (Array.isArray(value)) {
    if (plan.items === undefined) return
    for (let i = 0; i < value.length; i++) {
      if (isForbiddenNull(value[i], plan.items)) value[i] = deepClone(plan.items.default)
      visit(plan.items, value[i])
    }
    return
  }
  const object = value as Record<string, unknown>
  for (const [key, property] of plan.defaults) {
    if (!Object.hasOwn(object, key) || object[key] === undefined || isForbiddenNull(object[key], property)) {
      setMember(object, key, deepClone(property.default))
    }
  }
  for (const [key, property] of plan.nested) if (Object.hasOwn(object, key)) visit(property, object[key])
  if (plan.additional === undefined) return
  for (const key of Object.keys(object)) {
    if (plan.known.has(key)) continue
    if (isForbiddenNull(object[key], plan.additional))
      setMember(object, key, deepClone(plan.additional.default))
    visit(plan.additional, object[key])
  }
}

function isForbiddenNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true && hasDefault(schema)
}

/** Removes null members where null is not allowed and no default will replace it, as decoding into a struct would. */
export function dropNulls(schema: Schema, value: unknown): void {
  try {
    dropNullsBelow(schema, value)
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
}

function dropNullsBelow(schema: Schema, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    const { items } = schema
    if (items !== undefined) for (const item of value) dropNullsBelow(items, item)
    return
  }
  const object = value as Record<string, unknown>
  const { properties, additionalProperties } = schema
  for (const key in object) {
    const member = object[key]
    if (typeof member !== 'object') continue
    const property =
      properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : additionalProperties
    if (typeof property !== 'object') continue
    if (member !== null) dropNullsBelow(property, member)
    else if (property.nullable !== true && !hasDefault(property)) delete object[key]
  }
}
