import { readYaml } from '@coxswain/apimachinery/yaml'
import { buildFailed, KustomizeError } from '../errors.ts'
import { decodeFields, type Fields } from './decode-fields.ts'
import type { FieldSpecInput, SelectorInput } from './inputs.ts'
import { configTypes } from './types.ts'

export interface GeneratorOptions {
  labels?: Map<string, string>
  annotations?: Map<string, string>
  disableNameSuffixHash?: boolean
  immutable?: boolean
}

export interface GeneratorArguments {
  name?: string
  namespace?: string
  behavior?: string
  literals?: string[]
  files?: string[]
  envs?: string[]
  env?: string
  options?: GeneratorOptions
  /** Of a Secret. */
  type?: string
}

export interface PatchArguments {
  path?: string
  patch?: string
  target?: SelectorInput
  options?: { allowNameChange?: boolean; allowKindChange?: boolean }
}

export interface ImageArguments {
  name?: string
  newName?: string
  newTag?: string
  tagSuffix?: string
  digest?: string
}

export interface LabelArguments {
  pairs?: Map<string, string>
  includeSelectors?: boolean
  includeTemplates?: boolean
  includeVolumeClaimTemplates?: boolean
  fields?: FieldSpecInput[]
}

export interface FieldOptions {
  delimiter?: string
  index?: number
  create?: boolean
}

export interface ReplacementArguments {
  path?: string
  sourceValue?: string
  source?: {
    group?: string
    version?: string
    kind?: string
    name?: string
    namespace?: string
    fieldPath?: string
    options?: FieldOptions
  }
  targets?: {
    select?: SelectorInput
    reject?: SelectorInput[]
    fieldPaths?: string[]
    options?: FieldOptions
  }[]
}

export interface VarArguments {
  name?: string
  objref?: {
    apiVersion?: string
    group?: string
    version?: string
    kind?: string
    name?: string
    namespace?: string
  }
  fieldref?: { fieldPath?: string }
}

export interface SortOptions {
  order?: string
  legacySortOptions?: { orderFirst?: string[]; orderLast?: string[] }
}

/** A kustomization file. */
export interface Kustomization {
  apiVersion: string
  kind: string
  openapi?: Map<string, string>
  namePrefix?: string
  nameSuffix?: string
  namespace?: string
  commonLabels?: Map<string, string>
  labels?: LabelArguments[]
  commonAnnotations?: Map<string, string>
  patchesStrategicMerge?: string[]
  patchesJson6902?: PatchArguments[]
  patches?: PatchArguments[]
  images?: ImageArguments[]
  imageTags?: ImageArguments[]
  replacements?: ReplacementArguments[]
  replicas?: { name?: string; count?: number | bigint }[]
  vars?: VarArguments[]
  sortOptions?: SortOptions
  resources?: string[]
  components?: string[]
  crds?: string[]
  bases?: string[]
  configMapGenerator?: GeneratorArguments[]
  secretGenerator?: GeneratorArguments[]
  generatorOptions?: GeneratorOptions
  configurations?: string[]
  generators?: string[]
  transformers?: string[]
  validators?: string[]
  buildMetadata?: string[]
}

const fields: Fields = configTypes.kustomization

const deprecated = [
  ['bases', 'resources', ''],
  ['commonLabels', 'labels', ''],
  ['imageTags', 'images', ''],
  ['patchesJson6902', 'patches', ''],
  ['patchesStrategicMerge', 'patches', ''],
  ['vars', 'replacements', '[EXPERIMENTAL] '],
] as const

/** Reads a kustomization file; old names of fields become the current ones. */
export function readKustomization(
  text: Uint8Array,
  folder: string,
  warn: (warning: string) => void,
): Kustomization {
  let value: unknown
  try {
    value = readYaml(text)?.value ?? {}
  } catch (error) {
    throw buildFailed(`invalid Kustomization: ${(error as Error).message}`, error)
  }
  let kustomization: Kustomization
  try {
    kustomization = decodeFields(value, { fields }, 'strict') as Kustomization
  } catch (error) {
    throw buildFailed(`invalid Kustomization: ${(error as Error).message}`, error)
  }
  for (const [field, other, note] of deprecated) {
    if (kustomization[field] === undefined) continue
    warn(
      `# Warning: '${field}' is deprecated. Please use '${other}' instead. ${note}Run 'kustomize edit fix' to update your Kustomization automatically.`,
    )
  }
  refuseHelm(kustomization)
  fixKustomization(kustomization)
  checkKustomization(kustomization, folder)
  return kustomization
}

function refuseHelm(kustomization: object): void {
  for (const field of ['helmCharts', 'helmGlobals', 'helmChartInflationGenerator']) {
    if (Object.hasOwn(kustomization, field))
      throw new KustomizeError(
        'NotSupported',
        `"${field}" is not supported: Helm charts are not rendered here. Render the chart with "helm template" and list the result under "resources"`,
      )
  }
}

function fixKustomization(kustomization: Kustomization): void {
  kustomization.kind ||= 'Kustomization'
  kustomization.apiVersion ||=
    kustomization.kind === 'Component'
      ? 'kustomize.config.k8s.io/v1alpha1'
      : 'kustomize.config.k8s.io/v1beta1'
  if (kustomization.bases !== undefined)
    kustomization.resources = [...(kustomization.resources ?? []), ...kustomization.bases]
  if (kustomization.imageTags !== undefined)
    kustomization.images = [...(kustomization.images ?? []), ...kustomization.imageTags]
  delete kustomization.bases
  delete kustomization.imageTags
  for (const generator of [
    ...(kustomization.configMapGenerator ?? []),
    ...(kustomization.secretGenerator ?? []),
  ])
    if (generator.env) generator.envs = [...(generator.envs ?? []), generator.env]
}

function checkKustomization(kustomization: Kustomization, folder: string): void {
  const { apiVersion, kind, ...rest } = kustomization
  if (Object.values(rest).every(value => value === '')) throw buildFailed('kustomization.yaml is empty')
  const problems: string[] = []
  if (kind !== 'Kustomization' && kind !== 'Component')
    problems.push('kind should be Kustomization or Component')
  const required =
    kind === 'Component' ? 'kustomize.config.k8s.io/v1alpha1' : 'kustomize.config.k8s.io/v1beta1'
  if (apiVersion !== required) problems.push(`apiVersion for ${kind} should be ${required}`)
  if (problems.length > 0)
    throw buildFailed(`Failed to read kustomization file under ${folder}:\n${problems.join('\n')}`)
}
