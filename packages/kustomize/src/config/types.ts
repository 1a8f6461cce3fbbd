import type { Fields, FieldType } from './decode-fields.ts'

/** The fields of kustomize's configuration. */
const gvk = { group: 'string', version: 'string', kind: 'string' } as const
const id = { ...gvk, name: 'string', namespace: 'string' } as const
const strings: FieldType = { listOf: 'string' }
const stringMap: FieldType = { mapOf: 'string' }
const selector: FieldType = { fields: { ...id, annotationSelector: 'string', labelSelector: 'string' } }
const fieldSpecs: FieldType = { listOf: { fields: { ...gvk, path: 'string', create: 'boolean' } } }
const objectMeta: FieldType = {
  fields: { name: 'string', namespace: 'string', labels: stringMap, annotations: stringMap },
}
const generatorOptions: FieldType = {
  fields: {
    labels: stringMap,
    annotations: stringMap,
    disableNameSuffixHash: 'boolean',
    immutable: 'boolean',
  },
}
const generator: Fields = {
  namespace: 'string',
  name: 'string',
  behavior: 'string',
  literals: strings,
  files: strings,
  envs: strings,
  env: 'string',
  options: generatorOptions,
}
const secretGenerator: Fields = { ...generator, type: 'string' }
const patchOptions: FieldType = { fields: { allowNameChange: 'boolean', allowKindChange: 'boolean' } }
const patch: Fields = { path: 'string', patch: 'string', target: selector, options: patchOptions }
const image: Fields = {
  name: 'string',
  newName: 'string',
  tagSuffix: 'string',
  newTag: 'string',
  digest: 'string',
}
const replica: Fields = { name: 'string', count: 'integer' }
const fieldOptions: FieldType = {
  fields: { delimiter: 'string', index: 'integer', encoding: 'string', create: 'boolean' },
}
const replacement: Fields = {
  source: { fields: { ...id, fieldPath: 'string', options: fieldOptions } },
  targets: {
    listOf: {
      fields: { select: selector, reject: { listOf: selector }, fieldPaths: strings, options: fieldOptions },
    },
  },
  sourceValue: 'string',
}
const replacementField: Fields = { ...replacement, path: 'string' }
const variable: Fields = {
  name: 'string',
  objref: { fields: { apiVersion: 'string', ...id } },
  fieldref: { fields: { fieldPath: 'string' } },
}
const label: Fields = {
  pairs: stringMap,
  includeSelectors: 'boolean',
  includeTemplates: 'boolean',
  includeVolumeClaimTemplates: 'boolean',
  fields: fieldSpecs,
}
const sortOptions: Fields = {
  order: 'string',
  legacySortOptions: { fields: { orderFirst: strings, orderLast: strings } },
}

const kustomization: Fields = {
  apiVersion: 'string',
  kind: 'string',
  metadata: objectMeta,
  openapi: stringMap,
  namePrefix: 'string',
  nameSuffix: 'string',
  namespace: 'string',
  commonLabels: stringMap,
  labels: { listOf: { fields: label } },
  commonAnnotations: stringMap,
  patchesStrategicMerge: strings,
  patchesJson6902: { listOf: { fields: patch } },
  patches: { listOf: { fields: patch } },
  images: { listOf: { fields: image } },
  imageTags: { listOf: { fields: image } },
  replacements: { listOf: { fields: replacementField } },
  replicas: { listOf: { fields: replica } },
  vars: { listOf: { fields: variable } },
  sortOptions: { fields: sortOptions },
  resources: strings,
  components: strings,
  crds: strings,
  bases: strings,
  configMapGenerator: { listOf: { fields: generator } },
  secretGenerator: { listOf: { fields: secretGenerator } },
  helmGlobals: 'any',
  helmCharts: 'any',
  helmChartInflationGenerator: 'any',
  generatorOptions,
  configurations: strings,
  generators: strings,
  transformers: strings,
  validators: strings,
  buildMetadata: strings,
}

const transformerConfig: Fields = {
  namePrefix: fieldSpecs,
  nameSuffix: fieldSpecs,
  namespace: fieldSpecs,
  commonLabels: fieldSpecs,
  labels: fieldSpecs,
  templateLabels: fieldSpecs,
  volumeClaimTemplateLabels: fieldSpecs,
  commonAnnotations: fieldSpecs,
  nameReference: { listOf: { fields: { ...gvk, fieldSpecs } } },
  varReference: fieldSpecs,
  images: fieldSpecs,
  replicas: fieldSpecs,
}

/** The configuration of each built-in generator and transformer. */
const plugins: Readonly<Record<string, Fields>> = {
  AnnotationsTransformer: { annotations: stringMap, fieldSpecs },
  ConfigMapGenerator: { metadata: objectMeta, ...generator },
  HashTransformer: {},
  IAMPolicyGenerator: {
    cloud: 'string',
    kubernetesService: { fields: { namespace: 'string', name: 'string' } },
    serviceAccount: { fields: { name: 'string', projectId: 'string' } },
  },
  ImageTagTransformer: { imageTag: { fields: image }, fieldSpecs },
  LabelTransformer: { labels: stringMap, fieldSpecs },
  NamespaceTransformer: {
    metadata: objectMeta,
    fieldSpecs,
    unsetOnly: 'boolean',
    setRoleBindingSubjects: 'string',
  },
  PatchJson6902Transformer: { target: selector, path: 'string', jsonOp: 'string' },
  PatchStrategicMergeTransformer: { paths: strings, patches: 'string' },
  PatchTransformer: patch,
  PrefixSuffixTransformer: { prefix: 'string', suffix: 'string', fieldSpecs },
  PrefixTransformer: { prefix: 'string', fieldSpecs },
  ReplacementTransformer: { replacements: { listOf: { fields: replacementField } } },
  ReplicaCountTransformer: { replica: { fields: replica }, fieldSpecs },
  SecretGenerator: { metadata: objectMeta, ...secretGenerator },
  SuffixTransformer: { suffix: 'string', fieldSpecs },
  ValueAddTransformer: {
    value: 'string',
    targetFilePath: 'string',
    targets: { listOf: { fields: { selector, fieldPath: 'string', filePathPosition: 'integer' } } },
  },
}

interface ConfigTypes {
  readonly kustomization: Fields
  readonly transformerConfig: Fields
  readonly replacement: Fields
  readonly plugins: Readonly<Record<string, Fields>>
}

export const configTypes: ConfigTypes = { kustomization, transformerConfig, replacement, plugins }
