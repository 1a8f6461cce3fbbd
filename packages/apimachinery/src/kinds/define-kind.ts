import { MachineryError } from '../errors.ts'
import type { FieldError } from '../field/error.ts'
import { deepClone } from '../json/value.ts'
import type { ApiObject, ObjectMeta } from '../meta/meta.ts'
import { compileSchema } from '../schema/compile.ts'
import { validateCrdSchema } from '../schema/crd-schema.ts'
import type { Schema } from '../schema/schema.ts'
import type { Builder, CelOptions } from './builder.ts'
import type { ApplyFields, Carried, CreateFields, Fields, ReadFields } from './builder-types.ts'
import { type ConversionStep, type Conversions, findConversion } from './conversion.ts'
import type { Kind } from './kind.ts'
import { pluralOf } from './plural.ts'
import type { PrinterColumn } from './resource-info.ts'
import { objectSchema, schemaOf } from './s.ts'

/** A column of `kubectl get`. The type defaults to that of the schema. */
export interface ColumnDefinition extends Omit<Partial<PrinterColumn>, 'name' | 'jsonPath'> {
  readonly jsonPath: string
}

/** The paths of a scale subresource. */
export interface ScaleDefinition {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** One version of a kind definition. */
export interface VersionDefinition {
  /** Objects are stored in this version. Exactly one has it; a single version may omit it. */
  readonly storage?: boolean
  /** @default true */
  readonly served?: boolean
  /** True, or the text of the deprecation warning. */
  readonly deprecated?: boolean | string
  readonly spec?: Carried
  /** Gives the kind a status subresource unless `statusSubresource` is false. */
  readonly status?: Carried
  /** Fields beside spec and status, such as `data`. */
  readonly fields?: Fields
  /** Rules for the object as a whole: `{ rule: 'self.metadata.name.size() < 40' }`. */
  readonly cel?: readonly ({ readonly rule: string } & CelOptions)[]
  /** Restricts names: only `name` and `generateName` may be given. */
  readonly metadata?: { readonly name?: Carried; readonly generateName?: Carried }
  readonly doc?: string
  /** In the order of the columns: a JSON path, or more. */
  readonly columns?: Readonly<Record<string, string | ColumnDefinition>>
  /** @default true when there is a status */
  readonly statusSubresource?: boolean
  readonly scale?: ScaleDefinition
  /** JSON paths that field selectors may use. */
  readonly selectableFields?: readonly string[]
}

/** The argument of {@link defineKind}. */
export interface KindDefinition<
  G extends string,
  K extends string,
  V extends Record<string, VersionDefinition>,
> {
  readonly group: G
  readonly kind: K
  /** In the order of preference. */
  readonly versions: V
  /** @default 'Namespaced' */
  readonly scope?: 'Namespaced' | 'Cluster'
  /** @default the kind in lower case */
  readonly singular?: string
  /** @default the singular's plural */
  readonly plural?: string
  /** @default kind + 'List' */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /**
   * How objects are converted between versions: `{ v1alpha1: { v1: { to, from } } }`. Versions without a conversion of their own are
   * converted through others, as spokes through a hub. Every two versions have to be connected.
   */
  readonly conversions?: KindConversions<G, K, V>
  /** Metadata of the CustomResourceDefinition itself. */
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
}

/** The conversions of a kind, by the versions that they are between. */
export type KindConversions<
  G extends string,
  K extends string,
  V extends Record<string, VersionDefinition>,
> = {
  readonly [A in keyof V & string]?: {
    readonly [B in Exclude<keyof V & string, A>]?: Conversions<
      KindObject<G, K, A, V[A]>,
      KindObject<G, K, B, V[B]>
    >
  }
}

interface Names {
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
}

/** A kind definition with all defaults filled in. */
export interface ResolvedKind
  extends Omit<KindDefinition<string, string, Record<string, VersionDefinition>>, 'conversions'> {
  readonly conversions: readonly ConversionStep[]
  readonly names: Names
  readonly namespaced: boolean
  readonly schemas: Readonly<Record<string, Schema>>
}

/** The key of a defined kind's definition, which cannot clash with version names. */
export const resolved: unique symbol = Symbol.for('coxswain.apimachinery.resolvedKind') as never

/** A defined kind: one handle per version, `At.v1alpha1`. */
export type DefinedKind<G extends string, K extends string, V extends Record<string, VersionDefinition>> = {
  readonly [N in keyof V & string]: DefinedVersion<
    KindObject<G, K, N, V[N]>,
    KindCreate<G, K, N, V[N]>,
    KindApply<G, K, N, V[N]>
  >
} & { readonly [resolved]: ResolvedKind } & Versionless

/** A defined kind at one version, and what a server would make of an object of it. */
export interface DefinedVersion<T extends ApiObject = ApiObject, Create = unknown, Apply = unknown>
  extends Kind<T, Create, Apply> {
  /**
   * What a server would say about the object, or about an update from `old`, in its words: metadata, schema, formats, CEL rules. A
   * namespaced object without a namespace is taken to be in `default`.
   */
  validate(object: unknown, old?: unknown): readonly FieldError[]
  /** The object as a server would store it: without unknown fields, with defaults. The given one is not changed. */
  default(object: Create): T
}

/** Finds everything that a server would reject. */
export type ObjectValidator = (kind: Kind, object: unknown, old?: unknown) => readonly FieldError[]

/** What all versions of a defined kind share; a client needs one of them. */
export interface Versionless extends Omit<Kind, 'version' | 'schema' | 'types'> {
  /** Never set: it makes the compiler's error say that a handle such as `At.v1alpha1` is needed. */
  readonly version?: readonly ['name a version of the kind, as in At.v1']
  /** Never set, as `version`. */
  readonly schema?: never
}

/** Any defined kind. */
export interface AnyDefinedKind {
  readonly [resolved]: ResolvedKind
}

/** `example.com/v1`, or `v1` in the core group. */
type ApiVersion<G extends string, N extends string> = G extends '' ? N : `${G}/${N}`

/** `View` of the fields beside spec and status. */
type Extra<D extends VersionDefinition, View extends '~read' | '~create' | '~apply'> = D extends {
  readonly fields: infer F extends Fields
}
  ? View extends '~read'
    ? ReadFields<F>
    : View extends '~create'
      ? CreateFields<F>
      : ApplyFields<F>
  : unknown

type Spec<D extends VersionDefinition, View extends '~read' | '~create'> = D extends {
  readonly spec: infer B extends Carried
}
  ? B['~presence'] extends 'optional'
    ? { spec?: B[View] }
    : { spec: B[View] }
  : unknown

type Status<D extends VersionDefinition, View extends '~read' | '~create' | '~apply'> = D extends {
  readonly status: infer B extends Carried
}
  ? { status?: B[View] }
  : unknown

export type KindObject<G extends string, K extends string, N extends string, D extends VersionDefinition> = {
  apiVersion: ApiVersion<G, N>
  kind: K
  metadata: ApiObject['metadata']
} & Spec<D, '~read'> &
  Status<D, '~read'> &
  Extra<D, '~read'>

export type KindCreate<G extends string, K extends string, N extends string, D extends VersionDefinition> = {
  apiVersion?: ApiVersion<G, N>
  kind?: K
  metadata?: ObjectMeta
} & Spec<D, '~create'> &
  Status<D, '~create'> &
  Extra<D, '~create'>

export type KindApply<G extends string, K extends string, N extends string, D extends VersionDefinition> = {
  apiVersion?: ApiVersion<G, N>
  kind?: K
  metadata: ObjectMeta & { name: string }
} & (D extends { readonly spec: infer B extends Carried } ? { spec?: B['~apply'] } : unknown) &
  Status<D, '~apply'> &
  Extra<D, '~apply'>

/**
 * Defines a kind: the TypeScript type, the CustomResourceDefinition, the validator and the defaults in one value, with a
 * handle for each version. Throws a MachineryError `BadKind` for a definition that no server would accept.
 */
export function defineKind<G extends string, K extends string, V extends Record<string, VersionDefinition>>(
  definition: KindDefinition<G, K, V>,
): DefinedKind<G, K, V> {
  return define(definition, () => {
    throw new MachineryError('BadKind', 'validate needs CEL: import defineKind from coxswain')
  })
}

/** `defineKind` with this validator behind `validate`; rules in CEL need more than this package has. */
export function createDefineKind(validate: ObjectValidator): typeof defineKind {
  return definition => define(definition, validate)
}

function define<G extends string, K extends string, V extends Record<string, VersionDefinition>>(
  definition: KindDefinition<G, K, V>,
  validate: ObjectValidator,
): DefinedKind<G, K, V> {
  const kind = resolveKind(definition)
  const { names, namespaced } = kind
  const common = {
    group: kind.group,
    kind: names.kind,
    listKind: names.listKind,
    resource: names.plural,
    singular: names.singular,
    namespaced,
  }
  const handles = Object.keys(definition.versions).map((version): [string, Kind] => {
    const handle: Kind = { ...common, version, schema: () => kind.schemas[version]! }
    return [version, Object.defineProperties(handle, methodsOf(handle, validate))]
  })
  const members = { ...Object.fromEntries(handles), [resolved]: kind }
  // Not enumerable, so that listing the members lists the versions.
  const beside = Object.entries(common).map(([name, value]) => [name, { value }] as const)
  const defined = Object.freeze(
    Object.defineProperties(members, Object.fromEntries(beside)),
  ) as unknown as DefinedKind<G, K, V>
  for (const [, handle] of handles) Object.defineProperty(handle, definedKind, { value: defined })
  return defined
}

/** Not enumerable: a kind is compared and printed by its data. */
function methodsOf(handle: Kind, validate: ObjectValidator): PropertyDescriptorMap {
  return {
    validate: { value: (object: unknown, old?: unknown) => validate(handle, object, old) },
    default: {
      value: (object: object) => {
        const schema = compileSchema(handle.schema())
        const apiVersion = `${handle.group}/${handle.version}`
        const value = deepClone({ apiVersion, kind: handle.kind, ...object })
        schema.prune(value, { resourceRoot: true })
        schema.dropNulls(value)
        schema.applyDefaults(value)
        return value
      },
    },
  }
}

/** On the handle itself, so that another copy of this package finds it. */
const definedKind: unique symbol = Symbol.for('coxswain.apimachinery.definedKind') as never

/** The definition of a handle such as `At.v1alpha1`; undefined for a kind not created with `defineKind`. */
export function definedKindOf(handle: Kind): AnyDefinedKind | undefined {
  return (handle as Kind & { readonly [definedKind]?: AnyDefinedKind })[definedKind]
}

/** Whether a value, such as an export of a module, was made with `defineKind`; also by another copy of this package. */
export function isDefinedKind(value: unknown): value is AnyDefinedKind {
  return typeof value === 'object' && value !== null && resolved in value
}

/** The conversions of a defined kind. */
export function conversionsOfKind(kind: AnyDefinedKind): readonly ConversionStep[] {
  return kind[resolved].conversions
}

function resolveKind<G extends string, K extends string, V extends Record<string, VersionDefinition>>(
  definition: KindDefinition<G, K, V>,
): ResolvedKind {
  const { group, kind, versions } = definition
  const fail = (problem: string): never => {
    throw new MachineryError('BadKind', `${kind}.${group}: ${problem}`)
  }
  const entries = Object.entries(versions)
  const stored = entries.filter(([, version]) => version.storage ?? entries.length === 1)
  if (stored.length !== 1) fail('exactly one version must have storage: true')
  const singular = definition.singular ?? kind.toLowerCase()
  const schemas: Record<string, Schema> = {}
  for (const [name, version] of entries) {
    const schema = rootSchema(version)
    const [problem] = validateCrdSchema(schema)
    if (problem !== undefined) fail(`${name}: ${problem.field}: ${problem.body}`)
    schemas[name] = schema
  }
  return {
    ...definition,
    names: {
      kind,
      listKind: definition.listKind ?? `${kind}List`,
      plural: definition.plural ?? pluralOf(singular),
      singular,
    },
    namespaced: definition.scope !== 'Cluster',
    schemas,
    conversions: conversionSteps(definition, fail),
  }
}

type UntypedConversions = Readonly<
  Record<string, Readonly<Record<string, Conversions<ApiObject, ApiObject>>> | undefined>
>

function conversionSteps(
  { versions, conversions }: { readonly versions: object; readonly conversions?: object },
  fail: (problem: string) => never,
): ConversionStep[] {
  const names = Object.keys(versions)
  const steps: ConversionStep[] = []
  for (const [a, others] of Object.entries((conversions ?? {}) as UntypedConversions)) {
    for (const [b, { to, from }] of Object.entries(others ?? {})) {
      const unknown = [a, b].find(name => !names.includes(name))
      if (unknown !== undefined) fail(`conversions: there is no version ${unknown}`)
      steps.push({ from: a, to: b, convert: to }, { from: b, to: a, convert: from })
    }
  }
  const [first = ''] = names
  const apart = steps.length > 0 && names.find(name => !findConversion(steps, first, name))
  if (apart) fail(`conversions: there is none between ${first} and ${apart}`)
  return steps
}

function rootSchema(version: VersionDefinition): Schema {
  const fields: Record<string, Carried> = {}
  if (version.spec !== undefined) fields.spec = version.spec
  if (version.status !== undefined) fields.status = (version.status as Builder).optional()
  const own = objectSchema({ ...fields, ...version.fields })
  const rules = [...(own['x-kubernetes-validations'] ?? []), ...(version.cel ?? [])]
  const properties: Record<string, Schema> = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: version.metadata === undefined ? { type: 'object' } : metadataSchema(version.metadata),
    ...own.properties,
  }
  return {
    type: 'object',
    ...(version.doc === undefined ? {} : { description: version.doc }),
    properties,
    ...(own.required === undefined ? {} : { required: own.required }),
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  }
}

function metadataSchema(names: NonNullable<VersionDefinition['metadata']>): Schema {
  const properties = Object.entries(names).map(([key, builder]) => [key, schemaOf(builder)] as const)
  return { type: 'object', properties: Object.fromEntries(properties) }
}
