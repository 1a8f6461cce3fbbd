import type { Schema } from '../schema/schema.ts'
import { resolveSchema } from '../schema/schema-walk.ts'
import { objectMetaSchema } from './object-meta.ts'

/**
 * A schema as structured merge sees it: the values allowed at a path, and how two of them are merged. A node has
 * one of the three for a typed path and all of them where any value is allowed; the value then decides.
 */
export interface TypeNode {
  readonly map: MapType | undefined
  readonly list: ListType | undefined
  readonly scalar: ScalarType | undefined
}

export type ScalarType = 'numeric' | 'string' | 'boolean' | 'untyped'

/** One class for all maps and structs, because `typeOf` is where every walk spends most of its time. */
export class MapType {
  /** Atomic. */
  readonly isAtomic: boolean
  /** Accepts any value, without declared fields. */
  readonly isDeduced: boolean
  readonly #properties: Readonly<Record<string, Schema>>
  readonly #preserve: boolean
  /** The type of a map's values; a function because types may hold themselves. */
  readonly #values: () => TypeNode | undefined
  readonly #fields = new Map<string, TypeNode>()

  constructor(
    properties: Readonly<Record<string, Schema>>,
    values: () => TypeNode | undefined,
    options: { readonly isAtomic: boolean; readonly isDeduced: boolean; readonly preserve: boolean },
  ) {
    this.#properties = properties
    this.#values = values
    this.isAtomic = options.isAtomic
    this.isDeduced = options.isDeduced
    this.#preserve = options.preserve
  }

  /** The type of a named field, of a map's values otherwise; `undefined` for a field that is not declared. */
  typeOf(key: string): TypeNode | undefined {
    const known = this.#fields.get(key)
    if (known !== undefined) return known
    if (!this.isField(key)) return this.#values()
    const node = typeNodeOf(this.#properties[key], this.#preserve)
    this.#fields.set(key, node)
    return node
  }

  /** Whether `key` is a field with a name of its own, rather than a key of a map. */
  isField(key: string): boolean {
    return Object.hasOwn(this.#properties, key)
  }

  /** The same, atomic or not. */
  as(isAtomic: boolean): MapType {
    const { isDeduced } = this
    return new MapType(this.#properties, this.#values, { isAtomic, isDeduced, preserve: this.#preserve })
  }
}

export interface ListType {
  /** `atomic` lists change as a whole, `set` and `map` lists by element. */
  readonly kind: 'atomic' | 'set' | 'map'
  /** The keys of a `map` list, sorted. */
  readonly keys: readonly string[]
  /** The default of a key that an element omits; `undefined` for no default. */
  readonly keyDefaults: readonly unknown[]
  readonly items: TypeNode
}

/** Any value, merged atomically. */
const untyped: TypeNode = {
  scalar: 'untyped',
  get list() {
    return untypedList
  },
  map: new MapType({}, () => untyped, { isAtomic: true, isDeduced: false, preserve: false }),
}

const untypedList: ListType = { kind: 'atomic', keys: [], keyDefaults: [], items: untyped }

/** Any value: objects are merged by field, lists atomically. */
const deduced: TypeNode = {
  scalar: 'untyped',
  list: untypedList,
  map: new MapType({}, () => deduced, { isAtomic: false, isDeduced: true, preserve: false }),
}

const strict = new WeakMap<Schema, TypeNode>()
const preserving = new WeakMap<Schema, TypeNode>()

/** The node of a schema, made on first use. `preserve` keeps fields that are not declared. */
export function typeNodeOf(schema: Schema | undefined, preserve = false): TypeNode {
  if (schema === undefined) return deduced
  const nodes = preserve && schema !== objectMetaSchema ? preserving : strict
  let node = nodes.get(schema)
  if (node === undefined) {
    node = createNode(schema, nodes === preserving)
    nodes.set(schema, node)
  }
  return node
}

function createNode(schema: Schema, preserve: boolean): TypeNode {
  const inner = resolveSchema(schema)!
  if (inner !== schema) return withMapType(typeNodeOf(inner, preserve), schema['x-kubernetes-map-type'])
  if (schema.name === 'io.k8s.apimachinery.pkg.api.resource.Quantity') return scalarNode('untyped')
  if (schema.name === 'io.k8s.apimachinery.pkg.runtime.RawExtension') return untyped
  const keep = preserve || schema['x-kubernetes-preserve-unknown-fields'] === true
  switch (schema.type) {
    case 'object':
      return { map: createMap(schema, keep), list: undefined, scalar: undefined }
    case 'array':
      return { map: undefined, list: createList(schema, keep), scalar: undefined }
    case 'integer':
    case 'number':
      return scalarNode('numeric')
    case 'boolean':
      return scalarNode('boolean')
    case 'string':
      return scalarNode(schema.format === undefined || schema.format === 'byte' ? 'string' : 'untyped')
    default:
      return { map: createMap(schema, keep), list: createList(schema, keep), scalar: 'untyped' }
  }
}

function scalarNode(scalar: ScalarType): TypeNode {
  return { map: undefined, list: undefined, scalar }
}

/** Keywords beside a reference override those of the type itself. */
function withMapType(node: TypeNode, mapType: Schema['x-kubernetes-map-type']): TypeNode {
  if (mapType === undefined || node.map === undefined) return node
  return { ...node, map: node.map.as(mapType === 'atomic') }
}

function createMap(schema: Schema, preserve: boolean): MapType {
  const properties = embedded(schema)
  const { additionalProperties } = schema
  let values: () => TypeNode | undefined = () => undefined
  if (typeof additionalProperties === 'object') values = () => typeNodeOf(additionalProperties, preserve)
  else if (additionalProperties === true) values = () => deduced
  else if (additionalProperties === undefined && (preserve || Object.keys(properties).length === 0)) {
    values = () => deduced
  }
  return new MapType(properties, values, {
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    isDeduced: Object.keys(properties).length === 0 && values() === deduced,
    preserve,
  })
}

/** An object inside of another has metadata of its own. */
function embedded(schema: Schema): Readonly<Record<string, Schema>> {
  const properties = schema.properties ?? {}
  if (schema['x-kubernetes-embedded-resource'] !== true) return properties
  return withObjectFields(properties)
}

const stringSchema: Schema = { type: 'string' }

function withObjectFields(properties: Readonly<Record<string, Schema>>): Record<string, Schema> {
  const metadata = properties.metadata
  const isDescribed = resolveSchema(metadata)?.properties?.managedFields !== undefined
  return {
    ...properties,
    apiVersion: properties.apiVersion ?? stringSchema,
    kind: properties.kind ?? stringSchema,
    metadata: metadata !== undefined && isDescribed ? metadata : objectMetaSchema,
  }
}

const anyObject: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const roots = new WeakMap<Schema, Schema>()

/** The schema of a whole object: a custom one usually does not spell out its metadata. */
export function objectSchema(schema: Schema): Schema {
  let root = roots.get(schema)
  if (root === undefined) {
    const node = resolveSchema(schema)!
    const properties = withObjectFields(node.properties ?? {})
    // A schema that says nothing at all allows everything.
    root = node.type === undefined ? { ...anyObject, properties } : { ...node, properties }
    roots.set(schema, root)
  }
  return root
}

function createList(schema: Schema, preserve: boolean): ListType {
  const { items } = schema
  if (items === undefined) return untypedList
  const { kind, keys } = relationshipOf(schema)
  const element = resolveSchema(items)
  const sorted = [...keys].sort()
  return {
    kind,
    keys: sorted,
    keyDefaults: sorted.map(key => keyDefault(element, key)),
    get items() {
      return typeNodeOf(items, preserve)
    },
  }
}

/**
 * The default of an omitted key. A field of a built-in type that is always serialized is never omitted: it then has the
 * zero value of its type, as in kube-apiserver's own schemas.
 */
function keyDefault(element: Schema | undefined, key: string): unknown {
  const field = element?.properties?.[key]
  if (field?.default !== undefined || element?.name === undefined) return field?.default
  const isWritten = element.required?.includes(key) || element.name.endsWith('.LocalObjectReference')
  if (!isWritten) return undefined
  return field?.type === 'integer' ? 0 : ''
}

/** Lists without a list type are atomic, unless strategic merge would merge them. */
function relationshipOf(schema: Schema): { kind: ListType['kind']; keys: readonly string[] } {
  const type = schema['x-kubernetes-list-type']
  if (type === 'map') return { kind: 'map', keys: schema['x-kubernetes-list-map-keys'] ?? [] }
  if (type !== undefined) return { kind: type, keys: [] }
  const strategy = schema['x-kubernetes-patch-strategy']
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { kind: 'atomic', keys: [] }
  const mergeKey = schema['x-kubernetes-patch-merge-key']
  return mergeKey === undefined ? { kind: 'set', keys: [] } : { kind: 'map', keys: [mergeKey] }
}

export type AtomKind = 'map' | 'list' | 'scalar'

/** Which of the three counts for a value. */
export function atomOf(type: TypeNode, value: unknown): AtomKind | undefined {
  switch (typeof value) {
    case 'object':
      if (value === null) break
      if (Array.isArray(value)) {
        if (type.list !== undefined) return 'list'
      } else if (type.map !== undefined) return 'map'
      break
    default:
      if (type.scalar !== undefined) return 'scalar'
  }
  if (type.map !== undefined) return 'map'
  return type.scalar !== undefined ? 'scalar' : type.list !== undefined ? 'list' : undefined
}
