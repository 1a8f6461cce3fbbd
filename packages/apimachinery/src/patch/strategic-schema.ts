import { MachineryError } from '../errors.ts'
import { goPrint, goTypeName, goTypeOf } from '../go/go-print.ts'
import type { PlainObject } from '../json/plain.ts'
import type { Schema } from '../schema/schema.ts'
import { propertySchema, resolveSchema, shortTypeName } from '../schema/schema-walk.ts'

export const directiveKey = '$patch'
export const retainKeysKey = '$retainKeys'
export const deleteFromListPrefix = '$deleteFromPrimitiveList'
export const setOrderPrefix = '$setElementOrder'

/** How a field is patched, and the schema of its content: of the object, or of a list's elements. */
export interface FieldMeta {
  readonly inner: Schema | undefined
  readonly strategy: '' | 'merge' | 'replace'
  readonly retainKeys: boolean
  readonly mergeKey: string
}

/** Throws `PatchInapplicable` when `schema` has no such field: its content cannot be merged without a schema. */
export function objectFieldMeta(schema: Schema | undefined, key: string): FieldMeta {
  const field = lookup(schema, key)
  return { inner: resolveSchema(field), ...patchMeta(field) }
}

export function listFieldMeta(schema: Schema | undefined, key: string): FieldMeta {
  const field = lookup(schema, key)
  const list = resolveSchema(field)
  if (list?.items === undefined) throw inapplicable('expected slice or array type, but got: struct')
  const items = resolveSchema(list.items)
  if (items?.items !== undefined) throw inapplicable('unexpected slice of slice')
  return { inner: items, ...patchMeta(field) }
}

function lookup(schema: Schema | undefined, key: string): Schema {
  if (schema?.additionalProperties !== undefined || schema?.items !== undefined) {
    const kind = schema.items === undefined ? 'map' : 'slice'
    throw inapplicable(`merging an object in json but data type is not struct, instead is: ${kind}`)
  }
  const field = propertySchema(schema, key)
  if (field !== undefined) return field
  const name = shortTypeName(schema)
  throw inapplicable(`unable to find api field in struct ${name} for the json field ${JSON.stringify(key)}`)
}

function patchMeta(field: Schema): Omit<FieldMeta, 'inner'> {
  const text = field['x-kubernetes-patch-strategy'] ?? ''
  const mergeKey = field['x-kubernetes-patch-merge-key'] ?? ''
  if (text === '') return { strategy: '', retainKeys: false, mergeKey }
  const strategies = text.split(',')
  const others = strategies.filter(strategy => strategy !== 'retainKeys')
  return {
    strategy: others.includes('merge') ? 'merge' : others.includes('replace') ? 'replace' : '',
    retainKeys: others.length < strategies.length,
    mergeKey,
  }
}

export function inapplicable(message: string): MachineryError {
  return new MachineryError('PatchInapplicable', message)
}

export function noMergeKey(item: PlainObject, mergeKey: string): MachineryError {
  return inapplicable(`map: ${goPrint(item)} does not contain declared merge key: ${mergeKey}`)
}

export function wrongType(expected: 'map' | 'slice', actual: unknown): MachineryError {
  return inapplicable(`expected a ${goTypeName(expected)}, but received a ${goTypeName(goTypeOf(actual))}`)
}

export function badSetOrder(): MachineryError {
  return new MachineryError('PatchUndecodable', 'invalid patch format of setElementOrder list')
}
