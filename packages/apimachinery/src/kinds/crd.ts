import { compareCodePoints } from '../go/print-value.ts'
import { setMember } from '../json/value.ts'
import type { Schema } from '../schema/schema.ts'
import {
  type AnyDefinedKind,
  type ColumnDefinition,
  resolved,
  type VersionDefinition,
} from './define-kind.ts'
import { withoutGatedFields } from './marked-schema.ts'
import type { PrinterColumn } from './resource-info.ts'

/** The parts of an `apiextensions.k8s.io/v1` CustomResourceDefinition that this package reads and writes. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: {
    readonly name: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: CustomResourceDefinitionSpec
}

/** `spec` of a CRD. */
export interface CustomResourceDefinitionSpec {
  readonly group: string
  readonly names: {
    readonly kind: string
    readonly plural: string
    readonly singular?: string
    readonly listKind?: string
    readonly shortNames?: readonly string[]
    readonly categories?: readonly string[]
  }
  readonly scope: 'Namespaced' | 'Cluster'
  readonly versions: readonly CustomResourceDefinitionVersion[]
  readonly conversion?: CustomResourceConversion
  readonly preserveUnknownFields?: boolean
}

/** `spec.conversion` of a CRD. */
export interface CustomResourceConversion {
  readonly strategy: 'None' | 'Webhook'
  readonly webhook?: {
    readonly clientConfig?: {
      readonly url?: string
      readonly service?: {
        readonly namespace: string
        readonly name: string
        readonly path?: string
        readonly port?: number
      }
      readonly caBundle?: string
    }
    readonly conversionReviewVersions: readonly string[]
  }
}

/** An entry of `spec.versions` of a CRD. */
export interface CustomResourceDefinitionVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: Schema }
  readonly additionalPrinterColumns?: readonly (Omit<PrinterColumn, 'priority' | 'jsonPath'> & {
    readonly jsonPath: string
    readonly priority?: number
  })[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
  readonly subresources?: {
    readonly status?: object
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
}

/** Options of {@link toCustomResourceDefinition}. */
export interface CrdOptions {
  /** Truncates descriptions to that many characters, at the end of a sentence if possible; 0 omits them. */
  readonly maxDescriptionLength?: number
  /** Fields with other feature gates are left out. @default none are enabled */
  readonly featureGates?: readonly string[]
  /** The conversion of versions. @default the server's: only the apiVersion changes */
  readonly conversion?: CustomResourceConversion
}

/** The CustomResourceDefinition of a defined kind. Keys are sorted, as controller-gen writes them. */
export function toCustomResourceDefinition(
  kind: AnyDefinedKind,
  options: CrdOptions = {},
): CustomResourceDefinition {
  const { group, names, namespaced, versions, schemas, annotations, labels, shortNames, categories } =
    kind[resolved]
  const single = Object.keys(versions).length === 1
  const crd: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      ...(annotations === undefined ? {} : { annotations }),
      ...(labels === undefined ? {} : { labels }),
      name: `${names.plural}.${group}`,
    },
    spec: {
      ...(options.conversion === undefined ? {} : { conversion: options.conversion }),
      group,
      names: {
        ...(categories === undefined ? {} : { categories }),
        ...names,
        ...(shortNames === undefined ? {} : { shortNames }),
      },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: Object.entries(versions).map(([name, version]) =>
        versionOf(name, version, schemas[name]!, { single, ...options }),
      ),
    },
  }
  return sortKeys(crd) as CustomResourceDefinition
}

function versionOf(
  name: string,
  version: VersionDefinition,
  schema: Schema,
  options: CrdOptions & { readonly single: boolean },
): CustomResourceDefinitionVersion {
  const { deprecated, columns, selectableFields, scale } = version
  const hasStatus = version.statusSubresource ?? version.status !== undefined
  const limit = options.maxDescriptionLength
  const enabled = withoutGatedFields(schema, new Set(options.featureGates))
  return {
    ...(columns === undefined ? {} : { additionalPrinterColumns: printerColumns(columns, schema) }),
    ...(deprecated ? { deprecated: true } : {}),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    name,
    schema: { openAPIV3Schema: limit === undefined ? enabled : limitDescriptions(enabled, limit) },
    ...(selectableFields === undefined
      ? {}
      : { selectableFields: selectableFields.map(jsonPath => ({ jsonPath })) }),
    served: version.served ?? true,
    storage: version.storage ?? options.single,
    ...(hasStatus || scale !== undefined
      ? { subresources: { ...(scale === undefined ? {} : { scale }), ...(hasStatus ? { status: {} } : {}) } }
      : {}),
  }
}

type Columns = Readonly<Record<string, string | ColumnDefinition>>

function printerColumns(
  columns: Columns,
  schema: Schema,
): NonNullable<CustomResourceDefinitionVersion['additionalPrinterColumns']> {
  return Object.entries(columns).map(([name, column]) => {
    const details = typeof column === 'string' ? { jsonPath: column } : column
    return { ...details, name, type: details.type ?? columnType(details.jsonPath, schema) }
  })
}

/** From the schema at the path; a time outside the metadata is shown unchanged, since it may be in the future. */
function columnType(path: string, schema: Schema): PrinterColumn['type'] {
  if (/^\.metadata\.(?:creation|deletion)Timestamp$/.test(path)) return 'date'
  let node: Schema | undefined = schema
  for (const [step] of path.matchAll(/[^.[\]]+/g)) {
    node = /^(?:\d+|\*)$/.test(step) && node?.items !== undefined ? node.items : node?.properties?.[step]
  }
  const type = node?.type
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'string'
}

function limitDescriptions(schema: Schema, limit: number): Schema {
  return mapKeys(schema, (key, value) => {
    if (key !== 'description' || typeof value !== 'string') return value
    if (limit === 0) return undefined
    return value.length <= limit ? value : cut(value, limit)
  }) as Schema
}

function cut(text: string, limit: number): string {
  const head = text.slice(0, limit)
  const end = head.lastIndexOf('.')
  return end < 0 ? head : head.slice(0, end + 1)
}

/** Descriptions are schema keywords; a property of that name is an object and is kept. */
function mapKeys(value: unknown, map: (key: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(item => mapKeys(item, map))
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    const mapped = mapKeys(map(key, member), map)
    if (mapped !== undefined) setMember(result, key, mapped)
  }
  return result
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value).sort(compareCodePoints)) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined) setMember(result, key, sortKeys(member))
  }
  return result
}
