import type { FieldSpec } from '../config/inputs.ts'
import { toFieldSpec } from '../config/inputs.ts'
import type { Kustomization, LabelArguments } from '../config/kustomization.ts'
import { mergeSpecs, type TransformerConfig } from '../config/transformer-config.ts'
import { withPrefix } from '../errors.ts'
import type { GeneratorContext } from './generators.ts'
import { patchJson6902, patchResources, patchStrategicMerge } from './patches.ts'
import { createReplacements } from './plugins.ts'
import {
  addAffix,
  setEntries,
  setImages,
  setNamespace,
  setReplicas,
  type Transformer,
} from './transformers.ts'

/** A step of a kustomization, with the name that kustomize gives it. */
export interface BuildStep {
  readonly kind: string
  readonly transform: Transformer
}

type StepCreator = (
  kustomization: Kustomization,
  config: TransformerConfig,
  context: GeneratorContext,
) => readonly Transformer[]

/** The steps of a kustomization in their order. */
const order: readonly (readonly [string, StepCreator])[] = [
  [
    'PatchStrategicMergeTransformer',
    ({ patchesStrategicMerge: paths = [] }, _, context) =>
      paths.length === 0 ? [] : [patchStrategicMerge({ paths }, context)],
  ],
  [
    'PatchTransformer',
    ({ patches = [] }, _, context) => patches.map(patch => patchResources(patch, context)),
  ],
  [
    'NamespaceTransformer',
    ({ namespace = '' }, config) =>
      namespace === ''
        ? []
        : [setNamespace({ namespace, specs: config.namespace, unsetOnly: false, subjects: 'defaultOnly' })],
  ],
  [
    'PrefixTransformer',
    ({ namePrefix = '' }, config) =>
      namePrefix === '' ? [] : [addAffix(namePrefix, 'prefix', config.namePrefix)],
  ],
  [
    'SuffixTransformer',
    ({ nameSuffix = '' }, config) =>
      nameSuffix === '' ? [] : [addAffix(nameSuffix, 'suffix', config.nameSuffix)],
  ],
  ['LabelTransformer', labelSteps],
  [
    'AnnotationsTransformer',
    ({ commonAnnotations = new Map() }, config) =>
      commonAnnotations.size === 0 ? [] : [setEntries(commonAnnotations, config.commonAnnotations)],
  ],
  [
    'PatchJson6902Transformer',
    ({ patchesJson6902 = [] }, _, context) =>
      patchesJson6902.map(({ patch, ...rest }) =>
        patchJson6902({ ...rest, ...(patch !== undefined && { jsonOp: patch }) }, context),
      ),
  ],
  [
    'ReplicaCountTransformer',
    ({ replicas = [] }, config) =>
      replicas.map(({ name = '', count = 0 }) => setReplicas({ name, count }, config.replicas)),
  ],
  ['ImageTagTransformer', ({ images = [] }, config) => images.map(image => setImages(image, config.images))],
  [
    'ReplacementTransformer',
    ({ replacements = [] }, _, context) =>
      replacements.length === 0 ? [] : [createReplacements(replacements, context)],
  ],
]

export function builtInTransformers(
  kustomization: Kustomization,
  config: TransformerConfig,
  context: GeneratorContext,
): BuildStep[] {
  return order.flatMap(([kind, create]) =>
    withPrefix(`trouble configuring builtin ${kind}`, () => create(kustomization, config, context)).map(
      transform => ({
        kind,
        transform,
      }),
    ),
  )
}

const metadataLabels: FieldSpec = { group: '', version: '', kind: '', path: 'metadata/labels', create: true }

function labelSteps(
  { labels = [], commonLabels = new Map() }: Kustomization,
  config: TransformerConfig,
): Transformer[] {
  if (labels.length === 0 && commonLabels.size === 0) return []
  const steps = labels.map(label => setEntries(label.pairs ?? new Map(), labelSpecs(label, config)))
  steps.push(setEntries(commonLabels, config.commonLabels))
  return steps
}

function labelSpecs(label: LabelArguments, config: TransformerConfig): readonly FieldSpec[] {
  return withPrefix('failed to merge labels', () => {
    let specs = mergeSpecs((label.fields ?? []).map(toFieldSpec), config.labels)
    if (label.includeSelectors) return mergeSpecs(specs, config.commonLabels)
    if (label.includeTemplates) specs = mergeSpecs(specs, config.templateLabels)
    if (label.includeVolumeClaimTemplates) specs = mergeSpecs(specs, config.volumeClaimTemplateLabels)
    return mergeSpecs(specs, [metadataLabels])
  })
}
