import type { Schema } from '@coxswain/apimachinery/schema'

/**
 * Drops null as Go's decoder does: a server writes null for empty lists, maps and pointers of built-in kinds
 * without omitempty, such as `names` of a node's images. Required fields become empty lists and maps.
 * Where the schema allows null, or says nothing, it stays. Changes `value` in place.
 */
export function dropNulls(value: unknown, schema: Schema): void {
  if (typeof value !== 'object' || value === null || schema['x-kubernetes-preserve-unknown-fields']) return
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) dropNulls(item, schema.items)
    return
  }
  const { properties, required, additionalProperties: rest } = schema
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members)) {
    const property = properties && Object.hasOwn(properties, name) ? properties[name] : rest
    if (typeof property !== 'object') continue
    if (members[name] !== null) dropNulls(members[name], property)
    else if (property !== rest && isAbsence(property)) {
      const empty = required?.includes(name) ? emptyOf(property) : undefined
      if (empty) members[name] = empty
      else delete members[name]
    }
  }
}

function isAbsence(schema: Schema): boolean {
  return !schema.nullable && !schema['x-kubernetes-preserve-unknown-fields']
}

function emptyOf({ type, additionalProperties }: Schema): object | undefined {
  if (type === 'array') return []
  return type === 'object' && additionalProperties ? {} : undefined
}
