import { MachineryError } from '../errors.ts'
import type { Schema } from '../schema/schema.ts'

/** Keywords of built-in schemas that a CRD cannot have or, as with controller-gen, does not. */
const dropped = new Set<string>([
  'name',
  'description',
  'title',
  'example',
  'externalDocs',
  'enum',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
])

const embedded = new WeakMap<Schema, Schema>()

/** A built-in schema in the form that a CRD may embed: without descriptions, enums and patch strategies; structural. */
export function embedSchema(schema: Schema): Schema {
  return embed(schema, [])
}

function embed(schema: Schema, open: readonly Schema[]): Schema {
  const done = embedded.get(schema)
  if (done !== undefined) return done
  if (schema.name?.endsWith('.meta.v1.ObjectMeta') === true) return embeddedObjectMeta
  if (open.includes(schema)) {
    throw new MachineryError(
      'BadKind',
      `${schema.name ?? 'the type'} refers to itself and cannot be part of a CRD`,
    )
  }
  const inside = [...open, schema]
  const result = withForm(
    schema,
    Object.fromEntries(
      Object.entries(schema)
        .filter(([keyword]) => !dropped.has(keyword))
        .map(([keyword, value]) => [keyword, embedKeyword(keyword, value, inside)]),
    ),
  )
  const complete = withMarkers(schema.name, result)
  embedded.set(schema, complete)
  return complete
}

function embedKeyword(keyword: string, value: unknown, open: readonly Schema[]): unknown {
  switch (keyword) {
    case 'properties':
      return Object.fromEntries(
        Object.entries(value as Record<string, Schema>).map(([key, property]) => [
          key,
          embed(property, open),
        ]),
      )
    case 'items':
      return embed(value as Schema, open)
    case 'additionalProperties':
      return typeof value === 'object' ? embed(value as Schema, open) : value
    default:
      return value
  }
}

/** The form of quantities that controller-gen writes into CRDs. */
export const quantityPattern: string =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'

const text: Schema = { type: 'string' }

/** Embedded metadata, as controller-gen writes it: the members that are meaningful there. */
export const embeddedObjectMeta: Schema = {
  type: 'object',
  properties: {
    annotations: { type: 'object', additionalProperties: text },
    finalizers: { type: 'array', items: text },
    labels: { type: 'object', additionalProperties: text },
    name: text,
    namespace: text,
  },
}

/** What markers of Kubernetes' Go types say beyond their OpenAPI schemas, as controller-gen writes it; undefined: no default. */
const marked: Readonly<
  Record<string, { readonly defaults: Readonly<Record<string, unknown>>; readonly atomic?: true }>
> = {
  AzureDiskVolumeSource: { defaults: { cachingMode: undefined, kind: undefined, readOnly: false } },
  ConfigMapEnvSource: { defaults: { name: '' }, atomic: true },
  ConfigMapKeySelector: { defaults: { name: '' } },
  ConfigMapProjection: { defaults: { name: '' }, atomic: true },
  ConfigMapVolumeSource: { defaults: { name: '' }, atomic: true },
  FileKeySelector: { defaults: { optional: false } },
  GRPCAction: { defaults: { service: '' } },
  LocalObjectReference: { defaults: { name: '' } },
  SecretEnvSource: { defaults: { name: '' }, atomic: true },
  SecretKeySelector: { defaults: { name: '' } },
  SecretProjection: { defaults: { name: '' }, atomic: true },
}

function withMarkers(name: string | undefined, schema: Schema): Schema {
  const type = name?.startsWith('io.k8s.api.core.v1.') ? name.slice('io.k8s.api.core.v1.'.length) : ''
  const found = Object.hasOwn(marked, type) ? marked[type] : undefined
  if (!found) return schema
  const properties = { ...schema.properties }
  for (const [key, value] of Object.entries(found.defaults)) {
    const { default: _, ...property } = properties[key] ?? {}
    properties[key] = value === undefined ? property : { ...property, default: value }
  }
  return { ...schema, properties, ...(found.atomic && { 'x-kubernetes-map-type': 'atomic' as const }) }
}

/** A free-form map would be pruned to nothing inside a CRD, and a node needs a type. */
function withForm(source: Schema, schema: Schema): Schema {
  if (source['x-kubernetes-int-or-string'] === true) {
    const form: Schema = { ...schema, anyOf: [{ type: 'integer' }, { type: 'string' }] }
    return source.name?.endsWith('.resource.Quantity') === true ? { ...form, pattern: quantityPattern } : form
  }
  if (source['x-kubernetes-list-type'] === 'map' && schema.items !== undefined) {
    return { ...schema, items: withDefaultKeys(schema.items, schema['x-kubernetes-list-map-keys'] ?? []) }
  }
  const hasFields = schema.properties !== undefined || typeof schema.additionalProperties === 'object'
  if ((schema.type === 'object' && !hasFields) || schema.type === undefined) {
    const { additionalProperties: _, ...rest } = schema
    return { ...rest, 'x-kubernetes-preserve-unknown-fields': true }
  }
  return schema
}

/** A CRD requires list map keys to be required or defaulted; a Go type with neither gets the zero value. */
function withDefaultKeys(items: Schema, keys: readonly string[]): Schema {
  const properties = { ...items.properties }
  for (const key of keys) {
    const property = properties[key]
    if (property === undefined || property.default !== undefined || items.required?.includes(key)) continue
    properties[key] = { ...property, default: property.type === 'string' ? '' : 0 }
  }
  return { ...items, properties }
}
