import { deepEqual, type Schema } from '@coxswain/apimachinery'
import { isObject, type JsonObject } from '../json.ts'

/** The parts of a CustomResourceDefinition that its rules look at, as they come from a client: anything may be missing. */
export interface Definition {
  readonly metadata: {
    readonly name?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly creationTimestamp?: string
  }
  readonly spec: DefinitionSpec
  readonly status?: { readonly storedVersions?: readonly string[] | null }
}

export interface DefinitionSpec {
  readonly group?: string
  readonly scope?: string
  readonly names?: DefinitionNames
  readonly versions?: readonly DefinitionVersion[] | null
  readonly conversion?: JsonObject
  readonly preserveUnknownFields?: boolean
}

export interface DefinitionNames {
  readonly plural?: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly kind?: string
  readonly listKind?: string
  readonly categories?: readonly string[]
}

export interface DefinitionVersion {
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

/** The members of a version that upstream keeps once for all versions when they are equal. */
export type SharedMember = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'

export function readDefinition(object: JsonObject): Definition {
  return { ...object, spec: isObject(object.spec) ? object.spec : {} } as unknown as Definition
}

export function versionsOf(spec: DefinitionSpec): readonly DefinitionVersion[] {
  return spec.versions ?? []
}

/** Whether all versions agree on a member; errors are told at the place where upstream keeps it then. */
export function isShared(spec: DefinitionSpec, member: SharedMember): boolean {
  const [first, ...others] = versionsOf(spec)
  return first !== undefined && others.every(version => deepEqual(version[member], first[member]))
}

/** Every schema below and including `schema`, as upstream walks them. */
export function* eachSchema(schema: Schema): Generator<Schema, void, undefined> {
  yield schema
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
  for (const child of nested) if (isObject(child)) yield* eachSchema(child as Schema)
}
