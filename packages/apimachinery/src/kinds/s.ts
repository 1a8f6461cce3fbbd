import { MachineryError } from '../errors.ts'
import type { ApiObject, Condition, ObjectMeta } from '../meta/meta.ts'
import type { Schema } from '../schema/schema.ts'
import {
  type Builder,
  celName,
  createBuilder,
  type ListBuilder,
  type NumberBuilder,
  type ObjectBuilder,
  type StringBuilder,
} from './builder.ts'
import type {
  ApplyField,
  ApplyFields,
  ApplyKeyed,
  ApplyValueOf,
  Carried,
  CreateFields,
  CreateValueOf,
  Fields,
  ReadFields,
  ReadOf,
  SchemaRef,
} from './builder-types.ts'
import { conditionSchema } from './condition-schema.ts'
import { embeddedObjectMeta, embedSchema, quantityPattern } from './embed-schema.ts'
import { immutable, type MarkedSchema } from './marked-schema.ts'

/** Constraints of a string. */
export type StringOptions = Pick<Schema, 'minLength' | 'maxLength' | 'pattern' | 'format'>
/** Constraints of a number. */
export type NumberOptions = Pick<
  Schema,
  'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf'
>
/** Constraints of a list. */
export type ListOptions = Pick<Schema, 'minItems' | 'maxItems'>
/** Constraints of a map. */
export type MapOptions = Pick<Schema, 'minProperties' | 'maxProperties'>

/** A value whose read, create and apply forms are the same. */
type Plain<T> = Builder<T, T, T, 'required'>

type Scalar = string | number | boolean

const intOrString: Schema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
}

/**
 * Builders of schemas. The result is always structural, and is the TypeScript type at the same time:
 *
 *   s.object({ replicas: s.int32({ minimum: 0 }).default(1), mode: s.enumOf('Fast', 'Safe').optional() })
 *
 * A field is required unless it is `optional()` or has a `default()`.
 */
export const s = {
  string: (options: StringOptions = {}): StringBuilder => createBuilder({ type: 'string', ...options }),
  boolean: (): Plain<boolean> => createBuilder({ type: 'boolean' }),
  int32: (options: NumberOptions = {}): NumberBuilder =>
    createBuilder({ type: 'integer', format: 'int32', ...options }),
  /** Beyond 2^53 the value is a bigint. */
  int64: (options: NumberOptions = {}): NumberBuilder<number | bigint> =>
    createBuilder({ type: 'integer', format: 'int64', ...options }),
  /** A double. */
  number: (options: NumberOptions = {}): NumberBuilder => createBuilder({ type: 'number', ...options }),
  /** One of the given strings. */
  enumOf: <const T extends readonly [string, ...string[]]>(...values: T): StringBuilder<T[number]> =>
    createBuilder({ type: 'string', enum: values }),
  /** One fixed value. */
  literal: <const T extends Scalar>(value: T): Plain<T> =>
    createBuilder({ type: literalType(value), enum: [value] }),
  /** An RFC 3339 time, to the second. */
  time: (): StringBuilder => createBuilder({ type: 'string', format: 'date-time' }),
  /** An RFC 3339 time, to the microsecond. */
  microTime: (): StringBuilder => createBuilder({ type: 'string', format: 'date-time' }),
  /** A duration as Go writes it: `1h30m`. */
  duration: (): StringBuilder => createBuilder({ type: 'string', format: 'duration' }),
  /** Bytes in base64. */
  bytes: (): StringBuilder => createBuilder({ type: 'string', format: 'byte' }),
  /** A resource quantity, as in built-in kinds: `500m`, `1Gi`. A server takes `2` too, and `parseQuantity` reads both. */
  quantity: (): Plain<string> => createBuilder({ ...intOrString, pattern: quantityPattern }),
  /** A whole number or a string, such as `25%`. */
  intOrString: (): Plain<number | string> => createBuilder(intOrString),

  object: <P extends Fields>(
    fields: P,
  ): ObjectBuilder<ReadFields<P>, CreateFields<P>, ApplyFields<P>, keyof P & string> =>
    createBuilder(objectSchema(fields)),
  /** A list that applies replace atomically. */
  list: <I extends Carried>(
    item: I,
    options: ListOptions = {},
  ): ListBuilder<ReadOf<I>[], CreateValueOf<I>[], ApplyValueOf<I>[]> =>
    createBuilder({ type: 'array', items: schemaOf(item), 'x-kubernetes-list-type': 'atomic', ...options }),
  /** A list of objects that are identified by the fields `keys`; applies merge it item by item. */
  listMap: <I extends Carried, const K extends string & keyof I['~read']>(
    keys: readonly [K, ...K[]],
    item: I,
    options: ListOptions = {},
  ): ListBuilder<ReadOf<I>[], CreateValueOf<I>[], ApplyKeyed<I, K>[]> =>
    createBuilder(listMapSchema(keys, schemaOf(item), options)),
  /** A list of unique scalars; applies merge it. */
  set: <I extends Carried>(
    item: I,
    options: ListOptions = {},
  ): ListBuilder<ReadOf<I>[], CreateValueOf<I>[], ApplyValueOf<I>[]> =>
    createBuilder({ type: 'array', items: schemaOf(item), 'x-kubernetes-list-type': 'set', ...options }),
  /** An object with arbitrary keys and values of one type. */
  map: <V extends Carried>(
    value: V,
    options: MapOptions = {},
  ): ObjectBuilder<
    Record<string, ReadOf<V>>,
    Record<string, CreateValueOf<V>>,
    Record<string, ApplyValueOf<V>>,
    never
  > => createBuilder({ type: 'object', additionalProperties: schemaOf(value), ...options }),
  /** Any JSON value; it is neither validated nor pruned. */
  any: (): Plain<unknown> => createBuilder({ 'x-kubernetes-preserve-unknown-fields': true }),
  /** An object that is neither validated nor pruned. */
  anyObject: (): Plain<Record<string, unknown>> =>
    createBuilder({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
  /** A type from elsewhere, such as a built-in one: `s.ref(Container)`. Its descriptions are omitted. */
  ref: <T>(ref: SchemaRef<T>): Builder<T, T, ApplyField<T>, 'required'> =>
    createBuilder(embedSchema(ref.schema())),
  /** A whole object of any kind, or of the given one: apiVersion, kind and metadata are checked. */
  embedded: <T extends ApiObject = ApiObject>(
    ref?: SchemaRef<T>,
  ): Builder<T, Embedded<T>, Embedded<T>, 'required'> => createBuilder(embeddedSchema(ref?.schema())),
  /** Exactly one of the given fields: `s.union({ http: s.object(...), exec: s.object(...) })`. */
  union: <P extends Fields>(
    fields: P,
  ): Builder<UnionOf<P, '~read'>, UnionOf<P, '~create'>, ApplyFields<P>, 'required'> =>
    createBuilder<ObjectBuilder<never, never, never, string>>(
      objectSchema(optionalFields(fields)),
    ).exactlyOneOf(Object.keys(fields)) as Builder as Builder<
      UnionOf<P, '~read'>,
      UnionOf<P, '~create'>,
      ApplyFields<P>,
      'required'
    >,
  /** Metadata of an object created from this one, such as the labels of a template. */
  objectMeta: (): Plain<EmbeddedObjectMeta> => createBuilder(embeddedObjectMeta),
  /** Conditions of a status, as Kubernetes keeps them: one of each type. */
  conditions: (): ListBuilder<Condition[], Condition[], Condition[]> =>
    createBuilder(listMapSchema(['type'], conditionSchema, {})),
  /** A schema written by hand, for what has no builder. It must be structural. */
  schema: <T>(schema: Schema): Plain<T> => createBuilder(schema),
} as const

/** One alternative each, the other fields absent. */
export type UnionOf<P extends Fields, View extends '~read' | '~create'> = {
  [K in keyof P]: { [N in K]: P[K][View] } & { [N in Exclude<keyof P, K>]?: never }
}[keyof P]

/** The schema of `s.objectMeta()`. */
export type EmbeddedObjectMeta = Pick<
  ObjectMeta,
  'annotations' | 'finalizers' | 'labels' | 'name' | 'namespace'
>

/** An embedded object as it is sent. */
export type Embedded<T extends ApiObject> = Omit<T, 'metadata'> & { metadata?: Partial<T['metadata']> }

export function schemaOf(builder: Carried): Schema {
  return (builder as Builder).schema
}

export function objectSchema(fields: Fields): Schema {
  const required = Object.keys(fields).filter(key => (fields[key] as Builder).presence === 'required')
  const properties = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, schemaOf(field)]))
  // The rule of an optional field is not evaluated when the field is removed.
  const rules = Object.entries(properties)
    .filter(([key, schema]) => (schema as MarkedSchema)[immutable] && !required.includes(key))
    .map(([key]) => ({
      rule: `!has(oldSelf.${celName(key)}) || has(self.${celName(key)})`,
      message: `field ${key} is immutable once set`,
    }))
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  }
}

function optionalFields(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, (field as Builder).optional()]),
  )
}

function listMapSchema(keys: readonly string[], items: Schema, options: ListOptions): Schema {
  for (const key of keys) {
    const property = items.properties?.[key]
    if (property === undefined)
      throw new MachineryError('BadKind', `list map key ${key} is not a field of its items`)
    if (property.default === undefined && items.required?.includes(key) !== true) {
      throw new MachineryError('BadKind', `list map key ${key} must be required or have a default`)
    }
  }
  return {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...options,
  }
}

function embeddedSchema(schema: Schema | undefined): Schema {
  const base: Schema = { type: 'object', 'x-kubernetes-embedded-resource': true }
  if (schema === undefined) return { ...base, 'x-kubernetes-preserve-unknown-fields': true }
  const { properties, required } = embedSchema(schema)
  const { metadata: _metadata, ...rest } = properties ?? {}
  return required === undefined ? { ...base, properties: rest } : { ...base, properties: rest, required }
}

function literalType(value: Scalar): 'string' | 'boolean' | 'integer' | 'number' {
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as 'string' | 'boolean'
  return Number.isInteger(value) ? 'integer' : 'number'
}
