import { type FieldRow, jsonFields, rowOf, specialNames, type TypeExpression, type TypeRow } from './table.ts'

/** A node of an OpenAPI document, as plain JSON. */
export type Definition = Record<string, unknown>

/** How a document writes what the two versions of OpenAPI write differently. */
export interface DefinitionDialect {
  readonly version: 2 | 3
  /** Called with the name of each type that is referred to. */
  readonly reference: (name: string) => string
}

/** The OpenAPI definition of a built-in type, without `x-kubernetes-group-version-kind`. */
export function definitionOf(row: TypeRow, dialect: DefinitionDialect): Definition {
  if (row.isSpecial) return specialDefinition(row.short, dialect)
  const fields = jsonFields(row)
  const required = fields.filter(field => field.required).map(field => field.json)
  const properties: Record<string, Definition> = {}
  for (const field of fields) properties[field.json] = propertyOf(field, dialect)
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    ...(fields.length > 0 && { properties }),
    ...(row.mapType && { 'x-kubernetes-map-type': row.mapType }),
    ...row.extensions,
  }
}

function propertyOf(field: FieldRow, dialect: DefinitionDialect): Definition {
  const { type } = field
  const node = typeDefinition(type, dialect, field.isBare ? 'bare' : 'property')
  if (dialect.version === 3) {
    if (field.default !== undefined) node.default = field.default
    else if (field.omit !== 'never' && type.form === 'basic') delete node.default
  }
  if (field.enum) node.enum = field.enum
  if (field.itemEnum) ((node.items ?? node.additionalProperties) as Definition).enum = field.itemEnum
  if (field.listType) node['x-kubernetes-list-type'] = field.listType
  if (field.listMapKeys) node['x-kubernetes-list-map-keys'] = field.listMapKeys
  if (field.mapType) node['x-kubernetes-map-type'] = field.mapType
  if (field.patchMergeKey) node['x-kubernetes-patch-merge-key'] = field.patchMergeKey
  if (field.patchStrategy) node['x-kubernetes-patch-strategy'] = field.patchStrategy
  return field.extensions ? { ...node, ...field.extensions } : node
}

type Place = 'property' | 'bare' | 'element'

function typeDefinition(type: TypeExpression, dialect: DefinitionDialect, place: Place): Definition {
  switch (type.form) {
    case 'list':
      return { type: 'array', items: typeDefinition(type.element, dialect, 'element') }
    case 'map':
      return { type: 'object', additionalProperties: typeDefinition(type.element, dialect, 'element') }
    case 'basic': {
      const node: Definition = { ...basicDefinitions[type.basic] }
      const zero = zeros[type.basic]
      if (dialect.version === 3 && !type.pointer && zero !== undefined) node.default = zero
      return node
    }
    case 'special':
      return reference(specialNames[type.special], dialect, { place, isStruct: false })
    case 'ref': {
      const row = rowOf(type)
      return reference(row.name, dialect, { place, isStruct: !type.pointer && !row.isSpecial })
    }
  }
}

function reference(
  name: string,
  dialect: DefinitionDialect,
  at: { place: Place; isStruct: boolean },
): Definition {
  const $ref = dialect.reference(name)
  if (dialect.version === 2) return { $ref }
  if (at.isStruct) return { default: {}, allOf: [{ $ref }] }
  return at.place === 'property' ? { allOf: [{ $ref }] } : { $ref }
}

const zeros: Readonly<Record<string, unknown>> = { string: '', bool: false, int32: 0, int64: 0, float64: 0 }

const basicDefinitions: Readonly<Record<string, Definition>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  any: { type: 'object' },
}

/** The definition of a type with a JSON form of its own, by its short name. */
export function specialDefinition(short: string, dialect: Pick<DefinitionDialect, 'version'>): Definition {
  const isV3 = dialect.version === 3
  switch (short) {
    case 'Time':
    case 'MicroTime':
      return { type: 'string', format: 'date-time' }
    case 'Quantity':
      return isV3 ? { oneOf: [{ type: 'string' }, { type: 'number' }] } : { type: 'string' }
    case 'IntOrString':
      return isV3
        ? { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }
        : { type: 'string', format: 'int-or-string' }
    case 'FieldsV1':
    case 'RawExtension':
      return { type: 'object' }
    default:
      return {}
  }
}
