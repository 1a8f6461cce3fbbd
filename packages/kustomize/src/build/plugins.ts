/** The generators and transformers that kustomize has built in, by their kinds. */
import { readYaml } from '@coxswain/apimachinery/yaml'
import { decodeFields } from '../config/decode-fields.ts'
import { type FieldSpecInput, type SelectorInput, toFieldSpec } from '../config/inputs.ts'
import type {
  GeneratorArguments,
  ImageArguments,
  PatchArguments,
  ReplacementArguments,
} from '../config/kustomization.ts'
import { configTypes } from '../config/types.ts'
import { buildFailed, KustomizeError } from '../errors.ts'
import { changeNamespace } from '../filters/namespace.ts'
import { applyReplacements } from '../filters/replacements.ts'
import { ResourceSelector } from '../filters/selector.ts'
import { readResources } from '../resource/read-resources.ts'
import type { Resource } from '../resource/resource.ts'
import { nodeToJson } from '../yaml/decode.ts'
import { scalarNode } from '../yaml/node.ts'
import { expectKind, lookup, setScalar } from '../yaml/tree.ts'
import { type GeneratorContext, generate } from './generators.ts'
import { patchJson6902, patchResources, patchStrategicMerge } from './patches.ts'
import { baseName } from './paths.ts'
import {
  addAffix,
  addHashes,
  setEntries,
  setImages,
  setNamespace,
  setReplicas,
  type Transformer,
} from './transformers.ts'

interface PluginConfig {
  annotations?: Map<string, string>
  labels?: Map<string, string>
  fieldSpecs?: FieldSpecInput[]
  metadata?: { name?: string; namespace?: string }
  prefix?: string
  suffix?: string
  imageTag?: ImageArguments
  replica?: { name?: string; count?: number | bigint }
  replacements?: ReplacementArguments[]
  unsetOnly?: boolean
  setRoleBindingSubjects?: string
  value?: string
  targets?: ValueTarget[]
  targetFilePath?: string
  cloud?: string
  kubernetesService?: { name?: string; namespace?: string }
  serviceAccount?: { name?: string; projectId?: string }
}

interface ValueTarget {
  selector?: SelectorInput
  fieldPath?: string
  filePathPosition?: number
}

function configOf(resource: Resource): PluginConfig {
  const { kind, gvk } = resource
  if (gvk.group !== '' || gvk.version !== 'builtin')
    throw new KustomizeError(
      'NotSupported',
      `the plug-in ${resource.apiVersion} ${kind} is not supported: only those with "apiVersion: builtin" are`,
    )
  if (kind === 'HelmChartInflationGenerator')
    throw new KustomizeError(
      'NotSupported',
      'HelmChartInflationGenerator is not supported: Helm charts are not rendered here',
    )
  if (!Object.hasOwn(configTypes.plugins, kind)) throw buildFailed(`unable to load builtin ${kind}`)
  return decodeFields(
    nodeToJson(resource.node),
    { fields: configTypes.plugins[kind]! },
    'lenient',
  ) as PluginConfig
}

const generatorKinds = new Set(['ConfigMapGenerator', 'SecretGenerator', 'IAMPolicyGenerator'])

/** The objects that a generator of the author makes. */
export function runGenerator(resource: Resource, context: GeneratorContext): Resource[] {
  const config = configOf(resource)
  if (!generatorKinds.has(resource.kind)) throw buildFailed(`plugin ${resource} not a generator`)
  if (resource.kind === 'IAMPolicyGenerator') return generatePolicy(config, context)
  const args: GeneratorArguments = config as GeneratorArguments
  args.name ||= config.metadata?.name ?? ''
  args.namespace ||= config.metadata?.namespace ?? ''
  return [generate(resource.kind === 'SecretGenerator' ? 'Secret' : 'ConfigMap', args, context)]
}

function generatePolicy(config: PluginConfig, context: GeneratorContext): Resource[] {
  const { cloud = '', kubernetesService = {}, serviceAccount = {} } = config
  if (cloud !== 'gke') throw buildFailed(`cloud provider ${cloud} not supported yet`)
  const { namespace = '' } = kubernetesService
  return readResources(
    `apiVersion: v1
kind: ServiceAccount
metadata:
  annotations:
    iam.gke.io/gcp-service-account: ${serviceAccount.name ?? ''}@${serviceAccount.projectId ?? ''}.iam.gserviceaccount.com
  name: ${kubernetesService.name ?? ''}
${namespace === '' ? '' : `  namespace: ${namespace}`}`,
    context.schemas,
  )
}

/** A transformer or validator of the author. */
export function createTransformer(resource: Resource, context: GeneratorContext): Transformer {
  const config = configOf(resource)
  if (generatorKinds.has(resource.kind)) throw buildFailed(`plugin ${resource} not a transformer`)
  return creators[resource.kind]!(config, context)
}

const specsOf = ({ fieldSpecs }: PluginConfig) => (fieldSpecs ?? []).map(toFieldSpec)

function affixSpecs(config: PluginConfig) {
  if (config.fieldSpecs === undefined) throw buildFailed('fieldSpecs is not expected to be nil')
  return specsOf(config)
}

const creators: Readonly<Record<string, (config: PluginConfig, context: GeneratorContext) => Transformer>> = {
  AnnotationsTransformer: config => setEntries(config.annotations ?? new Map(), specsOf(config)),
  LabelTransformer: config => setEntries(config.labels ?? new Map(), specsOf(config)),
  HashTransformer: () => addHashes,
  ImageTagTransformer: config => setImages(config.imageTag ?? {}, specsOf(config)),
  NamespaceTransformer: config => createNamespaceTransformer(config),
  PatchJson6902Transformer: (config, context) => patchJson6902(config as PatchArguments, context),
  PatchStrategicMergeTransformer: (config, context) =>
    patchStrategicMerge(config as { paths?: string[] }, context),
  PatchTransformer: (config, context) => patchResources(config as PatchArguments, context),
  PrefixTransformer: config => addAffix(config.prefix ?? '', 'prefix', affixSpecs(config)),
  SuffixTransformer: config => addAffix(config.suffix ?? '', 'suffix', affixSpecs(config)),
  PrefixSuffixTransformer: config => {
    const prefix = addAffix(config.prefix ?? '', 'prefix', affixSpecs(config))
    const suffix = addAffix(config.suffix ?? '', 'suffix', affixSpecs(config))
    return map => {
      prefix(map)
      suffix(map)
    }
  },
  ReplacementTransformer: (config, context) => createReplacements(config.replacements ?? [], context),
  ReplicaCountTransformer: config =>
    setReplicas({ name: config.replica?.name ?? '', count: config.replica?.count ?? 0 }, specsOf(config)),
  ValueAddTransformer: (config, context) => createValueAdder(config, context),
}

function createNamespaceTransformer(config: PluginConfig): Transformer {
  const subjects = config.setRoleBindingSubjects || 'defaultOnly'
  if (subjects !== 'defaultOnly' && subjects !== 'allServiceAccounts' && subjects !== 'none')
    throw buildFailed(
      `invalid value "${subjects}" for setRoleBindingSubjects: must be one of "defaultOnly", "none" or "allServiceAccounts"`,
    )
  return setNamespace({
    namespace: config.metadata?.namespace ?? '',
    specs: specsOf(config),
    unsetOnly: config.unsetOnly ?? false,
    subjects,
  })
}

/** Replacements that are written out, or in files of one or several. */
export function createReplacements(
  fields: readonly ReplacementArguments[],
  { loader }: GeneratorContext,
): Transformer {
  const replacements = fields.flatMap((field): ReplacementArguments[] => {
    if (!field.path) return [field]
    if (field.source !== undefined || (field.targets?.length ?? 0) > 0)
      throw buildFailed('cannot specify both path and inline replacement')
    const value = readYaml(loader.load(field.path))?.value
    const list = Array.isArray(value) ? value : [value]
    return list.map(
      each => decodeFields(each, { fields: configTypes.replacement }, 'lenient') as ReplacementArguments,
    )
  })
  return map => applyReplacements(map.resources, replacements)
}

function createValueAdder(config: PluginConfig, { loader }: GeneratorContext): Transformer {
  const value = (config.value ?? '').trim() || baseName(loader.root)
  const targets = [...(config.targets ?? [])]
  if (config.targetFilePath) {
    const file = readYaml(loader.load(config.targetFilePath))?.value
    const fields = configTypes.plugins.ValueAddTransformer!
    const more = decodeFields(file ?? {}, { fields }, 'lenient') as PluginConfig
    for (const target of more.targets ?? []) targets.push(target)
  }
  if (targets.length === 0) throw buildFailed('must specify at least one target')
  for (const { fieldPath = '', filePathPosition = 0 } of targets) {
    if (fieldPath === '') throw buildFailed('fieldPath cannot be empty')
    if (filePathPosition < 0)
      throw buildFailed(`value of FilePathPosition (${filePathPosition}) cannot be negative`)
  }
  return map => {
    for (const target of targets) {
      const selected =
        target.selector === undefined
          ? map.resources
          : new ResourceSelector(target.selector).select(map.resources)
      for (const resource of selected) addValue(resource, value, target)
    }
  }
}

function addValue(
  resource: Resource,
  value: string,
  { fieldPath = '', filePathPosition = 0 }: ValueTarget,
): void {
  if (fieldPath === 'metadata/namespace') {
    changeNamespace(resource, { namespace: value, specs: [], unsetOnly: false, subjects: 'defaultOnly' })
    return
  }
  const fields: string[] = []
  for (const part of fieldPath.split('/')) {
    const last = fields.at(-1)
    if (last?.endsWith('\\')) fields[fields.length - 1] = `${last.slice(0, -1)}/${part}`
    else fields.push(part)
  }
  const node = lookup(resource.node, fields, 'scalar')
  if (node === undefined) return
  expectKind(node, 'scalar')
  setScalar(
    node,
    scalarNode(filePathPosition > 0 ? insertPart(node.value, filePathPosition - 1, value) : value),
  )
}

/** Puts a part into a path; behind the root when it is absolute. */
function insertPart(path: string, position: number, part: string): string {
  if (part === '') return path
  const parts = path === '' ? [] : path.replace(/(.)\/+$/, '$1').split('/')
  const at = Math.min(position, parts.length)
  const shifted = parts[0] === '' && at < parts.length ? at + 1 : at
  parts.splice(shifted, 0, part)
  return parts.join('/').replace(/\/{2,}/g, '/')
}
