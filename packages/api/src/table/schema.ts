import type { Schema } from '@coxswain/apimachinery/schema'
import { type FieldRow, jsonFields, rowOf, specialNames, type TypeExpression, type TypeRow } from './table.ts'

const schemas = new WeakMap<TypeRow, Schema>()

type MutableSchema = { -readonly [K in keyof Schema]: Schema[K] }

/**
 * The structural schema of a built-in type. Made on first use with all it refers to, then kept: a type is the same node
 * wherever it is used without marks of the field's own, and types that contain themselves are cycles.
 */
export function schemaOf(row: TypeRow): Schema {
  const known = schemas.get(row)
  if (known !== undefined) return known
  if (row.isSpecial) return keep(row, { ...specialSchema(row.short), name: row.name })
  const node: MutableSchema = { type: 'object', name: row.name }
  keep(row, node)
  const fields = jsonFields(row)
  const properties: Record<string, Schema> = {}
  for (const field of fields) properties[field.json] = fieldSchema(field)
  node.properties = properties
  const required = fields.filter(field => field.required).map(field => field.json)
  if (required.length > 0) node.required = required
  if (row.mapType) node['x-kubernetes-map-type'] = row.mapType
  return node
}

function keep(row: TypeRow, schema: Schema): Schema {
  schemas.set(row, schema)
  return schema
}

function fieldSchema(field: FieldRow): Schema {
  const marks: MutableSchema = {}
  if (field.default !== undefined && !isZero(field.default)) marks.default = field.default
  if (field.enum) marks.enum = field.enum
  if (field.listType) marks['x-kubernetes-list-type'] = field.listType
  if (field.listMapKeys) marks['x-kubernetes-list-map-keys'] = field.listMapKeys
  if (field.mapType) marks['x-kubernetes-map-type'] = field.mapType
  if (field.patchStrategy) marks['x-kubernetes-patch-strategy'] = field.patchStrategy
  if (field.patchMergeKey) marks['x-kubernetes-patch-merge-key'] = field.patchMergeKey
  let node = typeSchema(field.type)
  if (field.itemEnum) node = withElementEnum(node, field.itemEnum)
  return Object.keys(marks).length === 0 ? node : { ...node, ...marks }
}

function withElementEnum(node: Schema, choices: readonly string[]): Schema {
  if (node.items) return { ...node, items: { ...node.items, enum: choices } }
  if (typeof node.additionalProperties !== 'object') return node
  return { ...node, additionalProperties: { ...node.additionalProperties, enum: choices } }
}

/** Upstream gives nearly every field its zero value as a default, which says nothing. */
function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false
}

function typeSchema(type: TypeExpression): Schema {
  switch (type.form) {
    case 'list':
      return { type: 'array', items: typeSchema(type.element) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.element) }
    case 'basic':
      return basicSchemas[type.basic] ?? {}
    case 'special':
      return specialNodes[type.special] ?? {}
    case 'ref':
      return schemaOf(rowOf(type))
  }
}

const basicSchemas: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  any: { 'x-kubernetes-preserve-unknown-fields': true },
}

/** What a type with a JSON form of its own is in a structural schema, by its short name. */
function specialSchema(short: string): Schema {
  switch (short) {
    case 'Time':
    case 'MicroTime':
      return { type: 'string', format: 'date-time' }
    case 'Quantity':
    case 'IntOrString':
      return { 'x-kubernetes-int-or-string': true }
    case 'FieldsV1':
    case 'RawExtension':
      return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    default:
      return { 'x-kubernetes-preserve-unknown-fields': true }
  }
}

const specialNodes: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(specialNames).map(([token, name]) => [
    token,
    { ...specialSchema(name.slice(name.lastIndexOf('.') + 1)), name },
  ]),
)

const specialByName: ReadonlyMap<string, Schema> = new Map(
  Object.entries(specialNames).map(([token, name]) => [name, specialNodes[token] ?? {}]),
)

/** The schema of a type with a JSON form of its own, by its full name. */
export function specialSchemaOf(name: string): Schema | undefined {
  return specialByName.get(name)
}
