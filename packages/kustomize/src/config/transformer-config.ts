import { readYaml } from '@coxswain/apimachinery/yaml'
import { buildFailed } from '../errors.ts'
import { fieldSpecs as defaults } from '../gen/field-specs.ts'
import {
  equalGvk,
  type Gvk,
  isSelected,
  orderFirst,
  orderLast,
  rankKinds,
  sortText,
} from '../resource/gvk.ts'
import { decodeFields } from './decode-fields.ts'
import { type FieldSpec, type FieldSpecInput, toFieldSpec } from './inputs.ts'
import { configTypes } from './types.ts'

/** The kind whose names stand in the fields of others. */
export interface NameReference extends Gvk {
  readonly referrers: readonly FieldSpec[]
}

const specFields = [
  'namePrefix',
  'nameSuffix',
  'namespace',
  'commonLabels',
  'labels',
  'templateLabels',
  'volumeClaimTemplateLabels',
  'commonAnnotations',
  'varReference',
  'images',
  'replicas',
] as const
type SpecField = (typeof specFields)[number]

/** Where each transformer looks. */
export type TransformerConfig = Readonly<Record<SpecField, readonly FieldSpec[]>> & {
  readonly nameReference: readonly NameReference[]
}

export const emptyConfig: TransformerConfig = {
  ...(Object.fromEntries(specFields.map(field => [field, []])) as unknown as Record<SpecField, FieldSpec[]>),
  nameReference: [],
}

let builtIn: TransformerConfig | undefined

/** What kustomize knows without configuration. */
export function defaultConfig(): TransformerConfig {
  builtIn ??= sortConfig(readDefaults())
  return builtIn
}

function readDefaults(): TransformerConfig {
  const config: Record<string, FieldSpec[]> = Object.fromEntries(specFields.map(field => [field, []]))
  const references: { gvk: Gvk; referrers: FieldSpec[] }[] = []
  let list: FieldSpec[] = []
  let isReference = false
  for (const line of defaults.trim().split('\n')) {
    if (!line.startsWith(' ')) {
      const field = line.slice(0, -1)
      isReference = field === 'nameReference'
      if (!isReference) list = config[field]!
    } else if (isReference && line.endsWith(':')) {
      list = []
      references.push({ gvk: parseGvk(line.trim().slice(0, -1)), referrers: list })
    } else list.push(parseSpec(line.trim()))
  }
  return {
    ...(config as Record<SpecField, FieldSpec[]>),
    nameReference: references.map(({ gvk, referrers }) => ({ ...gvk, referrers })),
  }
}

function parseGvk(text: string): Gvk {
  const [group = '', version = '', kind = ''] = text.split('/')
  return { group, version, kind }
}

function parseSpec(text: string): FieldSpec {
  const [path = '', ...rest] = text.split(' ')
  const create = rest[0] === '+'
  return { ...parseGvk(rest[create ? 1 : 0] ?? '//'), path, create }
}

/** Reads a file of `configurations`. */
export function readTransformerConfig(bytes: Uint8Array): TransformerConfig {
  let input: Record<string, FieldSpecInput[]>
  try {
    const document = readYaml(bytes)
    if (document !== undefined && document.problems.length > 0)
      throw buildFailed(document.problems.join('\n'))
    input = (decodeFields(document?.value ?? {}, { fields: configTypes.transformerConfig }, 'strict names') ??
      {}) as typeof input
  } catch (error) {
    throw buildFailed((error as Error).message, error)
  }
  const references = (input.nameReference ?? []) as (FieldSpecInput & { fieldSpecs?: FieldSpecInput[] })[]
  const lists = Object.fromEntries(specFields.map(field => [field, (input[field] ?? []).map(toFieldSpec)]))
  return sortConfig({
    ...(lists as Record<SpecField, FieldSpec[]>),
    nameReference: references.map(({ group = '', version = '', kind = '', fieldSpecs = [] }) => ({
      group,
      version,
      kind,
      referrers: fieldSpecs.map(toFieldSpec),
    })),
  })
}

/** Adds the fields of another configuration. */
export function mergeConfig(config: TransformerConfig, other: TransformerConfig): TransformerConfig {
  if (config === other || other === emptyConfig) return config
  if (config === emptyConfig) return other
  const lists = specFields.map(field => {
    try {
      return [field, mergeSpecs(config[field], other[field])]
    } catch (error) {
      throw buildFailed(`failed to merge ${field} fieldSpec: ${(error as Error).message}`, error)
    }
  })
  let { nameReference } = config
  for (const reference of other.nameReference) nameReference = addReference(nameReference, reference)
  return sortConfig({ ...(Object.fromEntries(lists) as Record<SpecField, FieldSpec[]>), nameReference })
}

export function addReference(
  references: readonly NameReference[],
  added: NameReference,
): readonly NameReference[] {
  let isKnown = false
  const merged = references.map(each => {
    if (!equalGvk(each, added)) return each
    isKnown = true
    return { ...each, referrers: mergeSpecs(each.referrers, added.referrers) }
  })
  return isKnown ? merged : [...merged, added]
}

/** Adds field specs that are not there yet. */
export function mergeSpecs(specs: readonly FieldSpec[], added: readonly FieldSpec[]): readonly FieldSpec[] {
  if (added.length === 0) return specs
  const result = [...specs]
  const byPath = new Map<string, FieldSpec[]>()
  for (const spec of specs) byPath.set(spec.path, [...(byPath.get(spec.path) ?? []), spec])
  for (const spec of added) {
    const same = byPath.get(spec.path) ?? []
    const known = same.find(each => isSelected(each, spec))
    if (known === undefined) {
      result.push(spec)
      byPath.set(spec.path, [...same, spec])
    } else if (known.create !== spec.create) throw buildFailed('conflicting fieldspecs')
  }
  return result
}

const ranks = rankKinds(orderFirst, orderLast)

function compareGvks(a: Gvk, b: Gvk): number {
  const difference = (ranks.get(a.kind) ?? 0) - (ranks.get(b.kind) ?? 0)
  if (difference !== 0) return difference
  const left = sortText(a)
  const right = sortText(b)
  return left < right ? -1 : left > right ? 1 : 0
}

function sortConfig(config: TransformerConfig): TransformerConfig {
  const lists = specFields.map(field => [field, [...config[field]].sort(compareGvks)])
  return {
    ...(Object.fromEntries(lists) as Record<SpecField, FieldSpec[]>),
    nameReference: [...config.nameReference].sort(compareGvks),
  }
}
