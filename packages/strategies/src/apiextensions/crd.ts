import { deepEqual, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Schema } from '@coxswain/apimachinery/schema'

/** The parts of a CustomResourceDefinition that validation reads, as sent by a client: any of them may be missing. */
export interface Crd {
  readonly metadata: {
    readonly name?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly creationTimestamp?: string
  }
  readonly spec: CrdSpec
  readonly status?: { readonly storedVersions?: readonly string[] | null }
}

/** `spec` of a CustomResourceDefinition. */
export interface CrdSpec {
  readonly group?: string
  readonly scope?: string
  readonly names?: CrdNames
  readonly versions?: readonly CrdVersion[] | null
  readonly conversion?: JsonObject
  readonly preserveUnknownFields?: boolean
}

/** `spec.names` of a CustomResourceDefinition. */
export interface CrdNames {
  readonly plural?: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly kind?: string
  readonly listKind?: string
  readonly categories?: readonly string[]
}

/** A version of a CustomResourceDefinition. */
export interface CrdVersion {
  readonly name?: string
  readonly served?: boolean
  readonly storage?: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: Schema }
  readonly subresources?: JsonObject
  readonly additionalPrinterColumns?: readonly JsonObject[]
  readonly selectableFields?: readonly { readonly jsonPath?: string }[]
}

/** The members of a version that upstream's internal type has once for all versions when they are equal. */
export type SharedMember = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'

/** Views a decoded object as a CustomResourceDefinition. */
export function readCrd(object: JsonObject): Crd {
  return { ...object, spec: isObject(object.spec) ? object.spec : {} } as unknown as Crd
}

/** The versions of a CustomResourceDefinition, in its order. */
export function versionsOf(spec: CrdSpec): readonly CrdVersion[] {
  return spec.versions ?? []
}

/** Whether all versions have an equal member; errors are then reported at the top-level path, as upstream does. */
export function isShared(spec: CrdSpec, member: SharedMember): boolean {
  const [first, ...others] = versionsOf(spec)
  return first !== undefined && others.every(version => deepEqual(version[member], first[member]))
}

function childrenOf(schema: Schema): readonly Schema[] {
  const { items, additionalProperties, not } = schema
  const nested: readonly unknown[] = [
    items,
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    not,
    ...Object.values(schema.properties ?? {}),
    additionalProperties,
  ]
  return nested.filter(isObject) as unknown as Schema[]
}

/** `schema` and every schema nested in it, in upstream's order. */
export function* eachSchema(schema: Schema): Generator<Schema, void, undefined> {
  const waiting = [schema]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next
    const children = childrenOf(next)
    for (let i = children.length - 1; i >= 0; i--) waiting.push(children[i]!)
  }
}

/** Whether a schema is nested deeper than this. */
export function isDeeper(schema: Schema, levels: number): boolean {
  let level: readonly Schema[] = [schema]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap(childrenOf)
  }
  return false
}
