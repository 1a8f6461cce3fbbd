import { JobTemplateSpec } from '@coxswain/api/batch/v1'
import {
  Affinity,
  Container,
  LocalObjectReference,
  ObjectReference,
  PersistentVolumeClaimSpec,
  PodTemplateSpec,
  ResourceRequirements,
  SecretKeySelector,
  Toleration,
  TypedLocalObjectReference,
  Volume,
} from '@coxswain/api/core/v1'
import { LabelSelector } from '@coxswain/api/meta/v1'
import { s } from 'coxswain'
import { shape } from './shape.ts'

export const Text = shape('Text', {
  spec: s.object({
    plain: s.string(),
    bounded: s.string({ minLength: 1, maxLength: 63 }),
    pattern: s.string().pattern('^[a-z]+$').optional(),
    format: s.string({ format: 'hostname' }).optional(),
  }),
})
export const Numbers = shape(
  'Numbers',
  {
    spec: s.object({
      small: s.int32({ minimum: 0, maximum: 10 }),
      large: s.int64(),
      even: s.int32().multipleOf(2).optional(),
      inside: s.int32().exclusiveMinimum(0).exclusiveMaximum(100).optional(),
      ratio: s.number().optional(),
    }),
  },
  { plural: 'numbers' },
)
export const Enums = shape(
  'Enums',
  {
    spec: s.object({
      mode: s.enumOf('Fast', 'Safe'),
      level: s.int32().oneOf(1, 2, 3).optional(),
      policy: s.enumOf('Keep', 'Drop').default('Keep'),
    }),
  },
  { plural: 'enums' },
)
export const Times = shape(
  'Times',
  {
    spec: s.object({
      at: s.time(),
      precise: s.microTime().optional(),
      every: s.duration().optional(),
      on: s.string({ format: 'date' }).optional(),
    }),
  },
  { plural: 'times' },
)
export const Flags = shape(
  'Flags',
  {
    spec: s.object({ enabled: s.boolean(), verbose: s.boolean().default(false), data: s.bytes().optional() }),
  },
  { plural: 'flags' },
)
export const Quantities = shape(
  'Quantities',
  {
    spec: s.object({
      size: s.quantity(),
      surge: s.intOrString().optional(),
      limits: s.map(s.quantity()).optional(),
    }),
  },
  { plural: 'quantities' },
)
export const Nullables = shape(
  'Nullables',
  { spec: s.object({ text: s.string().nullable(), count: s.int32().nullable().optional() }) },
  { plural: 'nullables' },
)
export const Defaults = shape(
  'Defaults',
  {
    spec: s.object({
      name: s.string().default('main'),
      count: s.int32().default(3),
      ratio: s.number().default(0.5),
      on: s.boolean().default(true),
    }),
  },
  { plural: 'defaults' },
)
export const Documented = shape('Documented', {
  spec: s.object({
    name: s.string().title('The name').example('left-pad'),
    link: s.string().externalDocs('https://example.com/docs', 'more').optional(),
  }),
})
export const Immutables = shape(
  'Immutables',
  { spec: s.object({ zone: s.string().immutable(), size: s.int32().immutable().optional() }) },
  { plural: 'immutables' },
)
export const AtomicLists = shape(
  'AtomicLists',
  {
    spec: s.object({
      names: s.list(s.string()),
      items: s
        .list(s.object({ name: s.string(), value: s.string().optional() }), { minItems: 1, maxItems: 8 })
        .optional(),
    }),
  },
  { plural: 'atomiclists' },
)
export const Sets = shape(
  'Sets',
  {
    spec: s.object({
      tags: s.set(s.string({ maxLength: 20 })),
      ports: s.set(s.int32({ minimum: 1 }), { maxItems: 10 }).optional(),
    }),
  },
  { plural: 'sets' },
)
export const ListMaps = shape(
  'ListMaps',
  {
    spec: s.object({
      items: s.listMap(['name'], s.object({ name: s.string(), value: s.string().optional() })),
      ports: s
        .listMap(
          ['port', 'protocol'],
          s.object({
            port: s.int32(),
            protocol: s.enumOf('TCP', 'UDP').default('TCP'),
            name: s.string().optional(),
          }),
          { maxItems: 16 },
        )
        .optional(),
    }),
  },
  { plural: 'listmaps' },
)
export const Maps = shape(
  'Maps',
  {
    spec: s.object({
      labels: s.map(s.string()),
      limits: s.map(s.int32(), { minProperties: 1, maxProperties: 5 }).optional(),
      items: s.map(s.object({ name: s.string(), value: s.string().optional() })).optional(),
    }),
  },
  { plural: 'maps' },
)
export const MapTypes = shape(
  'MapTypes',
  {
    spec: s.object({
      whole: s.map(s.string()).atomic().optional(),
      merged: s.map(s.string()).granular().optional(),
      together: s.object({ name: s.string(), value: s.string().optional() }).atomic().optional(),
    }),
  },
  { plural: 'maptypes' },
)
export const Nested = shape('Nested', {
  spec: s.object({ outer: s.object({ inner: s.object({ deep: s.list(s.object({ value: s.string() })) }) }) }),
})
export const FieldRules = shape(
  'FieldRules',
  {
    spec: s
      .object({
        low: s.int32(),
        high: s.int32().cel('self < 1000', { message: 'too high' }),
        name: s
          .string({ maxLength: 40 })
          .cel("self.startsWith('x')", { messageExpression: "'not x but ' + self" })
          .optional(),
      })
      .cel('self.low <= self.high', {
        message: 'low must not exceed high',
        fieldPath: '.low',
        reason: 'FieldValueForbidden',
      }),
  },
  { plural: 'fieldrules' },
)
export const Transitions = shape(
  'Transitions',
  {
    spec: s.object({
      version: s.int32().cel('self >= oldSelf', { message: 'never goes back' }),
      phase: s
        .string({ maxLength: 20 })
        .cel('!oldSelf.hasValue() || self == oldSelf.value()', { optionalOldSelf: true, message: 'set once' })
        .optional(),
    }),
  },
  { plural: 'transitions' },
)
export const ItemRules = shape(
  'ItemRules',
  {
    spec: s.object({
      hosts: s.list(s.string({ maxLength: 100 }).cel("self.contains('.')", { message: 'needs a dot' }), {
        maxItems: 10,
      }),
      sizes: s.map(s.int32({ maximum: 9 }).cel('self != 7'), { maxProperties: 4 }).optional(),
    }),
  },
  { plural: 'itemrules' },
)
export const RootRules = shape(
  'RootRules',
  {
    spec: s.object({ size: s.int32() }),
    cel: [
      { rule: "self.metadata.name.startsWith('r-') || self.spec.size > 0", message: 'named r- or sized' },
    ],
  },
  { plural: 'rootrules' },
)
export const Reasons = shape(
  'Reasons',
  {
    spec: s.object({
      a: s
        .string({ maxLength: 9 })
        .cel("self != ''", { reason: 'FieldValueRequired', message: 'is required' })
        .optional(),
      b: s.string({ maxLength: 9 }).cel("self != 'dup'", { reason: 'FieldValueDuplicate' }).optional(),
    }),
  },
  { plural: 'reasons' },
)
export const ExactlyOne = shape('ExactlyOne', {
  spec: s
    .object({ a: s.string().optional(), b: s.string().optional(), c: s.string().optional() })
    .exactlyOneOf(['a', 'b']),
})
export const AtMostOne = shape('AtMostOne', {
  spec: s
    .object({ a: s.string().optional(), b: s.string().optional(), c: s.string().optional(), d: s.string() })
    .atMostOneOf(['a', 'b', 'c']),
})
export const AtLeastOne = shape('AtLeastOne', {
  spec: s
    .object({ a: s.string().optional(), b: s.string().optional(), c: s.string().optional() })
    .atLeastOneOf(['b', 'c']),
})
export const Unions = shape(
  'Unions',
  {
    spec: s.object({
      source: s.union({
        http: s.object({ url: s.string({ format: 'uri' }) }),
        exec: s.object({ command: s.list(s.string()) }),
      }),
    }),
  },
  { plural: 'unions' },
)
export const Templates = shape(
  'Templates',
  { spec: s.object({ template: s.ref(PodTemplateSpec) }) },
  { plural: 'templates' },
)
export const Jobs = shape(
  'Jobs',
  { spec: s.object({ jobTemplate: s.ref(JobTemplateSpec) }) },
  { plural: 'jobs' },
)
export const Containers = shape(
  'Containers',
  { spec: s.object({ containers: s.listMap(['name'], s.ref(Container)) }) },
  { plural: 'containers' },
)
export const Selectors = shape(
  'Selectors',
  {
    spec: s.object({
      selector: s.ref(LabelSelector),
      secret: s.ref(SecretKeySelector).optional(),
      ref: s.ref(LocalObjectReference).optional(),
    }),
  },
  { plural: 'selectors' },
)
export const References = shape(
  'References',
  { spec: s.object({ target: s.ref(ObjectReference), typed: s.ref(TypedLocalObjectReference).optional() }) },
  { plural: 'references' },
)
export const Placement = shape('Placement', {
  spec: s.object({
    affinity: s.ref(Affinity).optional(),
    tolerations: s.list(s.ref(Toleration)).optional(),
    resources: s.ref(ResourceRequirements).optional(),
    nodeSelector: s.map(s.string()).optional(),
  }),
})
export const Volumes = shape(
  'Volumes',
  {
    spec: s.object({
      volumes: s.listMap(['name'], s.ref(Volume)),
      claim: s.ref(PersistentVolumeClaimSpec).optional(),
    }),
  },
  { plural: 'volumes' },
)
export const EmbeddedAny = shape('EmbeddedAny', { spec: s.object({ object: s.embedded() }) })
export const Metas = shape(
  'Metas',
  { spec: s.object({ template: s.object({ metadata: s.objectMeta().optional() }) }) },
  { plural: 'metas' },
)
export const FreeForm = shape('FreeForm', {
  spec: s.object({
    values: s.anyObject(),
    anything: s.any().optional(),
    open: s.object({ name: s.string(), value: s.string().optional() }).preserveUnknownFields().optional(),
    bare: s.schema<string>({ type: 'string' }).optional(),
  }),
})
export const ClusterWide = shape('ClusterWide', { spec: s.object({ size: s.int32() }) }, { scope: 'Cluster' })
export const Named = shape(
  'Named',
  { spec: s.object({ size: s.int32() }) },
  { singular: 'nm', plural: 'namedthings', shortNames: ['n', 'nt'], categories: ['all', 'things'] },
)
export const Columned = shape('Columned', {
  spec: s.object({ size: s.int32(), until: s.time().optional() }),
  status: s.object({ phase: s.string().optional() }),
  columns: {
    Size: { jsonPath: '.spec.size', type: 'integer', format: 'int32', description: 'how many' },
    Phase: { jsonPath: '.status.phase', type: 'string', priority: 1 },
    Age: '.metadata.creationTimestamp',
  },
})
export const Scaled = shape('Scaled', {
  spec: s.object({ replicas: s.int32({ minimum: 0 }).default(1) }),
  status: s.object({ replicas: s.int32().optional(), selector: s.string().optional() }),
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
})
export const Selectable = shape('Selectable', {
  spec: s.object({ color: s.string(), node: s.string().optional() }),
  selectableFields: ['.spec.color', '.spec.node'],
})
export const Annotated = shape(
  'Annotated',
  { spec: s.object({ size: s.int32() }) },
  { annotations: { 'example.com/owner': 'fleet' }, labels: { tier: 'gold' } },
)
export const PlainStatus = shape('PlainStatus', {
  spec: s.object({ size: s.int32() }),
  status: s.object({ done: s.boolean().optional() }),
  statusSubresource: false,
})
