import type { ApplyOf, Kind } from '@coxswain/apimachinery/kinds'
import type { ManagedFieldsEntry, ObjectMeta } from '@coxswain/apimachinery/meta'
import type { Schema } from '@coxswain/apimachinery/schema'
import { ClientError } from './errors.ts'

/** Options of {@link extractApply}. */
export interface ExtractOptions {
  /** What the manager applied through this subresource. @default the object itself */
  readonly subresource?: string
}

/** An object as a server returned it: `metadata.managedFields` says who applied what. Cached objects have none. */
export interface Extractable {
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly managedFields?: unknown }
}

/**
 * The fields of `object` that `fieldManager` has applied: what it has to apply again, with changes, to keep owning them. Only the
 * type and the name when it has applied nothing.
 * @throws ClientError `BadAnswer` for managedFields that cannot be read
 */
export function extractApply<K extends Kind>(
  kind: K,
  { object, fieldManager }: { readonly object: Extractable; readonly fieldManager: string },
  { subresource = '' }: ExtractOptions = {},
): ApplyOf<K> {
  const entries = (object.metadata.managedFields ?? []) as readonly ManagedFieldsEntry[]
  const entry = entries.find(
    each =>
      each.manager === fieldManager && each.operation === 'Apply' && (each.subresource ?? '') === subresource,
  )
  const extracted = entry?.fieldsV1 ? extract(object, entry.fieldsV1, kind.schema()) : {}
  const { metadata, ...rest } = extracted as { metadata?: ObjectMeta }
  const { name, namespace } = object.metadata
  return {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { ...metadata, name, ...(namespace !== undefined && { namespace }) },
    ...rest,
  } as ApplyOf<K>
}

type Fields = Readonly<Record<string, unknown>>

/** The part of `value` that `fields` lead to. Lists keep their order, and items with keys their keys. */
function extract(value: unknown, fields: Fields, schema: Schema | undefined): unknown {
  const elements = Object.keys(fields).filter(element => element !== '.')
  if (elements.length === 0) return isGranular(value, schema) ? (Array.isArray(value) ? [] : {}) : value
  if (Array.isArray(value)) return extractItems(value, fields, schema)
  const members: Record<string, unknown> = {}
  if (typeof value !== 'object' || value === null) return members
  for (const element of elements) {
    const name = element.slice(2)
    if (!element.startsWith('f:') || !Object.hasOwn(value, name)) continue
    members[name] = extract((value as Fields)[name], fields[element] as Fields, memberSchema(schema, name))
  }
  return members
}

function extractItems(items: readonly unknown[], fields: Fields, schema: Schema | undefined): unknown[] {
  const keyed = new Map<string, { readonly keys: Fields; readonly below: Fields }>()
  let names: readonly string[] = []
  const values = new Set<string>()
  const indices = new Set<number>()
  for (const [element, below] of Object.entries(fields)) {
    const text = element.slice(2)
    if (element.startsWith('k:')) {
      const keys = parse(text) as Fields
      names = Object.keys(keys).sort()
      keyed.set(keyText(keys, names), { keys, below: below as Fields })
    } else if (element.startsWith('v:')) values.add(JSON.stringify(parse(text)))
    else if (element.startsWith('i:')) indices.add(Number(text))
  }
  return items.flatMap((item, index) => {
    if (indices.has(index)) return [item]
    if (typeof item !== 'object' || item === null) return values.has(JSON.stringify(item)) ? [item] : []
    const found = keyed.get(keyText(withDefaults(item as Fields, names, schema), names))
    if (!found) return []
    return [{ ...found.keys, ...(extract(item, found.below, schema?.items) as object) }]
  })
}

/** Keys with a default may be missing in the item, and are always in managedFields. */
function withDefaults(item: Fields, names: readonly string[], schema: Schema | undefined): Fields {
  const keys: Record<string, unknown> = {}
  for (const name of names) keys[name] = item[name] ?? schema?.items?.properties?.[name]?.default
  return keys
}

function keyText(keys: Fields, names: readonly string[]): string {
  return JSON.stringify(names.map(name => keys[name]))
}

/** Whether the members of a value are owned separately. */
function isGranular(value: unknown, schema: Schema | undefined): boolean {
  if (typeof value !== 'object' || value === null || !schema) return false
  if (Array.isArray(value)) {
    const type = schema['x-kubernetes-list-type']
    return type === 'map' || type === 'set'
  }
  if (schema['x-kubernetes-map-type'] === 'atomic') return false
  return schema.properties !== undefined || schema.additionalProperties !== undefined
}

function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const { properties, additionalProperties: rest } = schema ?? {}
  if (properties && Object.hasOwn(properties, name)) return properties[name]
  return typeof rest === 'object' ? rest : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ClientError('BadAnswer', `managedFields have an element that is not JSON: ${text}`, { cause })
  }
}
