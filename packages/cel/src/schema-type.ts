import type { Schema } from '@coxswain/apimachinery'
import { escapeName } from './escape.ts'
import { scalarConverter } from './schema-values.ts'
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
  stringType,
  timestampType,
} from './types.ts'
import {
  type Converter,
  fault,
  type JsonRecord,
  type ListSemantics,
  ListValue,
  type ObjectField,
  ObjectValue,
  RecordMap,
  type Value,
} from './values.ts'

/** What CEL makes of a schema: a type, the way from JSON to values, and bounds for the cost estimate. */
export interface SchemaType {
  readonly type: CelType
  readonly convert: Converter
  /** The same for what is known not to be null. */
  readonly convertPresent?: Converter
  /** The most elements, properties or bytes a value can have. */
  readonly maxElements: number
  /** Bytes of the shortest JSON of such a value. */
  readonly minSerializedSize: number
  readonly element?: SchemaType
  readonly key?: SchemaType
  readonly fields?: ReadonlyMap<string, SchemaType>
  /** Maps whose members are bounded however they are named: what selecting one gives. */
  readonly member?: SchemaType
}

const maxRequestBytes = 3 * 1024 * 1024

const cache = new WeakMap<Schema, { root?: SchemaType | undefined; inner?: SchemaType | undefined }>()
let names = 0

/**
 * The type of a schema, or undefined where CEL cannot see it (no type, or unknown fields only). `isRoot` adds what every
 * resource has: apiVersion, kind, metadata.name, metadata.generateName. Where a schema contains itself, CEL does not see the inner one.
 */
export function schemaType(schema: Schema, isRoot = false): SchemaType | undefined {
  const known = cache.get(schema)
  const slot = isRoot ? 'root' : 'inner'
  if (known !== undefined && slot in known) return known[slot]
  const made = build(schema, isRoot, { name: `selfType${names++}`, above: new Set() })
  cache.set(schema, { ...known, [slot]: made })
  return made
}

/** Where a schema stands: types are named by their path, so that two objects of one shape differ as upstream. */
interface Place {
  readonly name: string
  readonly above: ReadonlySet<Schema>
}

function build(schema: Schema, isRoot: boolean, { name, above }: Place): SchemaType | undefined {
  if (above.has(schema)) return undefined
  const place = { name, above: new Set([...above, schema]) }
  const made = make(isRoot ? withObjectMeta(schema) : schema, place)
  return made && { ...made, convert: nullChecked(schema, made.convert), convertPresent: made.convert }
}

const inside = ({ name, above }: Place, step: string): Place => ({ name: `${name}.${step}`, above })

function nullChecked(schema: Schema, convert: Converter): Converter {
  if (schema.nullable === true) return raw => (raw === null ? null : convert(raw))
  return raw => (raw === null ? fault('invalid data, got null for schema with nullable=false') : convert(raw))
}

function make(schema: Schema, place: Place): SchemaType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    const maxElements = schema.maxLength === undefined ? maxRequestBytes - 2 : stringBound(schema.maxLength)
    return { type: dynType, convert: scalarConverter(schema), maxElements, minSerializedSize: 1 }
  }
  switch (schema.type) {
    case 'array':
      return makeList(schema, place)
    case 'object':
      return makeObject(schema, place)
    case 'string':
      return makeString(schema)
    case 'boolean':
      return { type: boolType, convert: scalarConverter(schema), maxElements: 0, minSerializedSize: 4 }
    case 'number':
      return { type: doubleType, convert: scalarConverter(schema), maxElements: 0, minSerializedSize: 1 }
    case 'integer':
      return { type: intType, convert: scalarConverter(schema), maxElements: 0, minSerializedSize: 1 }
    default:
      return undefined
  }
}

const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true

function makeList(schema: Schema, place: Place): SchemaType | undefined {
  const element = schema.items && build(schema.items, isEmbedded(schema.items), inside(place, '@idx'))
  if (element === undefined) return undefined
  const { convert } = element
  const semantics = listSemantics(schema)
  return {
    type: listOf(element.type),
    convert: raw =>
      Array.isArray(raw)
        ? new ListValue(raw, convert, semantics)
        : fault('invalid data, expected an array for the provided schema with type=array'),
    maxElements:
      bound(schema.maxItems) ?? Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 1)),
    minSerializedSize: 2,
    element,
  }
}

function listSemantics(schema: Schema): ListSemantics | undefined {
  const kind = schema['x-kubernetes-list-type']
  if (kind === 'set') return { keyOf: item => JSON.stringify(item), isMap: false }
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return kind === 'map'
    ? { keyOf: item => JSON.stringify(keys.map(k => (item as JsonRecord)[k] ?? null)), isMap: true }
    : undefined
}

function makeObject(schema: Schema, place: Place): SchemaType | undefined {
  const additional = schema.additionalProperties
  if (typeof additional === 'object') {
    const element = build(additional, isEmbedded(additional), inside(place, '@elem'))
    if (element === undefined) return undefined
    const { convert } = element
    return {
      type: mapOf(stringType, element.type),
      convert: raw => new RecordMap(record(raw), convert),
      maxElements:
        bound(schema.maxProperties) ?? Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 6)),
      minSerializedSize: 2,
      element,
      // Keys have no bound of their own.
      key: { type: stringType, convert: raw => raw as Value, maxElements: 0, minSerializedSize: 2 },
    }
  }
  const fields = new Map<string, SchemaType>()
  const accessors = new Map<string, ObjectField>()
  let minSerializedSize = 2
  for (const [property, child] of Object.entries(schema.properties ?? {})) {
    const name = escapeName(property)
    const made = build(child, isEmbedded(child), inside(place, name ?? property))
    if (made === undefined) continue
    if (name !== undefined) {
      fields.set(name, made)
      const convert = made.convertPresent ?? made.convert
      accessors.set(name, { property, convert })
      // Field names may be keywords; they are escaped for the sake of older expressions.
      if (name === `__${property}__`) accessors.set(property, { property, convert, alias: true })
    }
    if (schema.required?.includes(property) && child.default === undefined) {
      minSerializedSize += new TextEncoder().encode(property).length + made.minSerializedSize + 4
    }
  }
  const type: CelType = {
    kind: 'object',
    name: schema.name ?? place.name,
    params: [],
    fields: name => (fields.get(name) ?? fields.get(`__${accessors.has(name) ? name : ''}__`))?.type,
  }
  return {
    type,
    convert: raw => new ObjectValue(record(raw), accessors, type),
    maxElements: 0,
    minSerializedSize,
    fields,
  }
}

function record(raw: unknown): JsonRecord {
  if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) return raw as JsonRecord
  return fault('invalid data, expected a map for the provided schema with type=object')
}

function makeString(schema: Schema): SchemaType {
  const convert = scalarConverter(schema)
  switch (schema.format) {
    case 'byte':
      return {
        type: bytesType,
        convert,
        maxElements: bound(schema.maxLength) ?? maxRequestBytes - 2,
        minSerializedSize: 2,
      }
    case 'duration':
      return { type: durationType, convert, maxElements: 32, minSerializedSize: 3 }
    case 'date':
      return { type: timestampType, convert, maxElements: 12, minSerializedSize: 12 }
    case 'date-time':
      return { type: timestampType, convert, maxElements: 32, minSerializedSize: 21 }
    default:
      return { type: stringType, convert, maxElements: maxStringLength(schema), minSerializedSize: 2 }
  }
}

function maxStringLength(schema: Schema): number {
  if (schema.maxLength !== undefined) return stringBound(schema.maxLength)
  if (schema.enum === undefined || schema.enum.length === 0) return maxRequestBytes - 2
  const lengthOf = (value: unknown) =>
    typeof value === 'string' ? new TextEncoder().encode(value).length : 0
  return schema.enum.reduce<number>((longest, value) => Math.max(longest, lengthOf(value)), 0)
}

function bound(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(0, value)
}

/** A character may take four bytes. */
function stringBound(maxLength: number): number {
  return Math.max(0, maxLength) * 4
}

const text: Schema = { type: 'string' }
const objectMeta: Schema = { type: 'object', properties: { name: text, generateName: text } }

function withObjectMeta(schema: Schema): Schema {
  const { kind, apiVersion, metadata } = schema.properties ?? {}
  const isComplete =
    kind?.type === 'string' &&
    apiVersion?.type === 'string' &&
    metadata?.type === 'object' &&
    metadata.properties?.name?.type === 'string' &&
    metadata.properties.generateName?.type === 'string'
  if (isComplete) return schema
  return {
    ...schema,
    properties: { ...schema.properties, kind: text, apiVersion: text, metadata: objectMeta },
  }
}
