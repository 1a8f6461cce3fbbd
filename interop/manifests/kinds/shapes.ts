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
import { defineKind, s } from 'coxswain'

const group = 'shapes.example.com'

export const Text = defineKind({
  group,
  kind: 'Text',
  versions: {
    v1: {
      spec: s.object({
        plain: s.string(),
        bounded: s.string({ minLength: 1, maxLength: 63 }),
        pattern: s.string().pattern('^[a-z]+$').optional(),
        format: s.string({ format: 'hostname' }).optional(),
      }),
    },
  },
})
export const Numbers = defineKind({
  group,
  kind: 'Numbers',
  plural: 'numbers',
  versions: {
    v1: {
      spec: s.object({
        small: s.int32({ minimum: 0, maximum: 10 }),
        large: s.int64(),
        even: s.int32().multipleOf(2).optional(),
        inside: s.int32().exclusiveMinimum(0).exclusiveMaximum(100).optional(),
        ratio: s.number().optional(),
      }),
    },
  },
})
export const Enums = defineKind({
  group,
  kind: 'Enums',
  plural: 'enums',
  versions: {
    v1: {
      spec: s.object({
        mode: s.enumOf('Fast', 'Safe'),
        level: s.int32().oneOf(1, 2, 3).optional(),
        policy: s.enumOf('Keep', 'Drop').default('Keep'),
      }),
    },
  },
})
export const Times = defineKind({
  group,
  kind: 'Times',
  plural: 'times',
  versions: {
    v1: {
      spec: s.object({
        at: s.time(),
        precise: s.microTime().optional(),
        every: s.duration().optional(),
        on: s.string({ format: 'date' }).optional(),
      }),
    },
  },
})
export const Flags = defineKind({
  group,
  kind: 'Flags',
  plural: 'flags',
  versions: {
    v1: {
      spec: s.object({
        enabled: s.boolean(),
        verbose: s.boolean().default(false),
        data: s.bytes().optional(),
      }),
    },
  },
})
export const Quantities = defineKind({
  group,
  kind: 'Quantities',
  plural: 'quantities',
  versions: {
    v1: {
      spec: s.object({
        size: s.quantity(),
        surge: s.intOrString().optional(),
        limits: s.map(s.quantity()).optional(),
      }),
    },
  },
})
export const Nullables = defineKind({
  group,
  kind: 'Nullables',
  plural: 'nullables',
  versions: {
    v1: { spec: s.object({ text: s.string().nullable(), count: s.int32().nullable().optional() }) },
  },
})
export const Defaults = defineKind({
  group,
  kind: 'Defaults',
  plural: 'defaults',
  versions: {
    v1: {
      spec: s.object({
        name: s.string().default('main'),
        count: s.int32().default(3),
        ratio: s.number().default(0.5),
        on: s.boolean().default(true),
      }),
    },
  },
})
export const Documented = defineKind({
  group,
  kind: 'Documented',
  versions: {
    v1: {
      spec: s.object({
        name: s.string().title('The name').example('left-pad'),
        link: s.string().externalDocs('https://example.com/docs', 'more').optional(),
      }),
    },
  },
})
export const Immutables = defineKind({
  group,
  kind: 'Immutables',
  plural: 'immutables',
  versions: {
    v1: { spec: s.object({ zone: s.string().immutable(), size: s.int32().immutable().optional() }) },
  },
})
export const AtomicLists = defineKind({
  group,
  kind: 'AtomicLists',
  plural: 'atomiclists',
  versions: {
    v1: {
      spec: s.object({
        names: s.list(s.string()),
        items: s
          .list(s.object({ name: s.string(), value: s.string().optional() }), { minItems: 1, maxItems: 8 })
          .optional(),
      }),
    },
  },
})
export const Sets = defineKind({
  group,
  kind: 'Sets',
  plural: 'sets',
  versions: {
    v1: {
      spec: s.object({
        tags: s.set(s.string({ maxLength: 20 })),
        ports: s.set(s.int32({ minimum: 1 }), { maxItems: 10 }).optional(),
      }),
    },
  },
})
export const ListMaps = defineKind({
  group,
  kind: 'ListMaps',
  plural: 'listmaps',
  versions: {
    v1: {
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
  },
})
export const Maps = defineKind({
  group,
  kind: 'Maps',
  plural: 'maps',
  versions: {
    v1: {
      spec: s.object({
        labels: s.map(s.string()),
        limits: s.map(s.int32(), { minProperties: 1, maxProperties: 5 }).optional(),
        items: s.map(s.object({ name: s.string(), value: s.string().optional() })).optional(),
      }),
    },
  },
})
export const MapTypes = defineKind({
  group,
  kind: 'MapTypes',
  plural: 'maptypes',
  versions: {
    v1: {
      spec: s.object({
        whole: s.map(s.string()).atomic().optional(),
        merged: s.map(s.string()).granular().optional(),
        together: s.object({ name: s.string(), value: s.string().optional() }).atomic().optional(),
      }),
    },
  },
})
export const Nested = defineKind({
  group,
  kind: 'Nested',
  versions: {
    v1: {
      spec: s.object({
        outer: s.object({ inner: s.object({ deep: s.list(s.object({ value: s.string() })) }) }),
      }),
    },
  },
})
export const FieldRules = defineKind({
  group,
  kind: 'FieldRules',
  plural: 'fieldrules',
  versions: {
    v1: {
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
  },
})
export const Transitions = defineKind({
  group,
  kind: 'Transitions',
  plural: 'transitions',
  versions: {
    v1: {
      spec: s.object({
        version: s.int32().cel('self >= oldSelf', { message: 'never goes back' }),
        phase: s
          .string({ maxLength: 20 })
          .cel('!oldSelf.hasValue() || self == oldSelf.value()', {
            optionalOldSelf: true,
            message: 'set once',
          })
          .optional(),
      }),
    },
  },
})
export const ItemRules = defineKind({
  group,
  kind: 'ItemRules',
  plural: 'itemrules',
  versions: {
    v1: {
      spec: s.object({
        hosts: s.list(s.string({ maxLength: 100 }).cel("self.contains('.')", { message: 'needs a dot' }), {
          maxItems: 10,
        }),
        sizes: s.map(s.int32({ maximum: 9 }).cel('self != 7'), { maxProperties: 4 }).optional(),
      }),
    },
  },
})
export const RootRules = defineKind({
  group,
  kind: 'RootRules',
  plural: 'rootrules',
  versions: {
    v1: {
      spec: s.object({ size: s.int32() }),
      cel: [
        { rule: "self.metadata.name.startsWith('r-') || self.spec.size > 0", message: 'named r- or sized' },
      ],
    },
  },
})
export const Reasons = defineKind({
  group,
  kind: 'Reasons',
  plural: 'reasons',
  versions: {
    v1: {
      spec: s.object({
        a: s
          .string({ maxLength: 9 })
          .cel("self != ''", { reason: 'FieldValueRequired', message: 'is required' })
          .optional(),
        b: s.string({ maxLength: 9 }).cel("self != 'dup'", { reason: 'FieldValueDuplicate' }).optional(),
      }),
    },
  },
})
export const ExactlyOne = defineKind({
  group,
  kind: 'ExactlyOne',
  versions: {
    v1: {
      spec: s
        .object({ a: s.string().optional(), b: s.string().optional(), c: s.string().optional() })
        .exactlyOneOf(['a', 'b']),
    },
  },
})
export const AtMostOne = defineKind({
  group,
  kind: 'AtMostOne',
  versions: {
    v1: {
      spec: s
        .object({ a: s.string().optional(), b: s.string().optional(), c: s.string().optional() })
        .atMostOneOf(['a', 'b', 'c']),
    },
  },
})
export const AtLeastOne = defineKind({
  group,
  kind: 'AtLeastOne',
  versions: {
    v1: {
      spec: s
        .object({ a: s.string().optional(), b: s.string().optional(), c: s.string().optional() })
        .atLeastOneOf(['b', 'c']),
    },
  },
})
export const Unions = defineKind({
  group,
  kind: 'Unions',
  plural: 'unions',
  versions: {
    v1: {
      spec: s.object({
        source: s.union({
          http: s.object({ url: s.string({ format: 'uri' }) }),
          exec: s.object({ command: s.list(s.string()) }),
        }),
        fallback: s
          .union({
            http: s.object({ url: s.string({ format: 'uri' }) }),
            exec: s.object({ command: s.list(s.string()) }),
          })
          .optional(),
      }),
    },
  },
})
export const Templates = defineKind({
  group,
  kind: 'Templates',
  plural: 'templates',
  versions: { v1: { spec: s.object({ template: s.ref(PodTemplateSpec) }) } },
})
export const Jobs = defineKind({
  group,
  kind: 'Jobs',
  plural: 'jobs',
  versions: { v1: { spec: s.object({ jobTemplate: s.ref(JobTemplateSpec) }) } },
})
export const Containers = defineKind({
  group,
  kind: 'Containers',
  plural: 'containers',
  versions: { v1: { spec: s.object({ containers: s.listMap(['name'], s.ref(Container)) }) } },
})
export const Selectors = defineKind({
  group,
  kind: 'Selectors',
  plural: 'selectors',
  versions: {
    v1: {
      spec: s.object({
        selector: s.ref(LabelSelector),
        secret: s.ref(SecretKeySelector).optional(),
        ref: s.ref(LocalObjectReference).optional(),
      }),
    },
  },
})
export const References = defineKind({
  group,
  kind: 'References',
  plural: 'references',
  versions: {
    v1: {
      spec: s.object({ target: s.ref(ObjectReference), typed: s.ref(TypedLocalObjectReference).optional() }),
    },
  },
})
export const Placement = defineKind({
  group,
  kind: 'Placement',
  versions: {
    v1: {
      spec: s.object({
        affinity: s.ref(Affinity).optional(),
        tolerations: s.list(s.ref(Toleration)).optional(),
        resources: s.ref(ResourceRequirements).optional(),
        nodeSelector: s.map(s.string()).optional(),
      }),
    },
  },
})
export const Volumes = defineKind({
  group,
  kind: 'Volumes',
  plural: 'volumes',
  versions: {
    v1: {
      spec: s.object({
        volumes: s.listMap(['name'], s.ref(Volume)),
        claim: s.ref(PersistentVolumeClaimSpec).optional(),
      }),
    },
  },
})
export const EmbeddedAny = defineKind({
  group,
  kind: 'EmbeddedAny',
  versions: { v1: { spec: s.object({ object: s.embedded() }) } },
})
export const Metas = defineKind({
  group,
  kind: 'Metas',
  plural: 'metas',
  versions: { v1: { spec: s.object({ template: s.object({ metadata: s.objectMeta().optional() }) }) } },
})
export const FreeForm = defineKind({
  group,
  kind: 'FreeForm',
  versions: {
    v1: {
      spec: s.object({
        values: s.anyObject(),
        anything: s.any().optional(),
        open: s.object({ name: s.string(), value: s.string().optional() }).preserveUnknownFields().optional(),
        bare: s.schema<string>({ type: 'string' }).optional(),
      }),
    },
  },
})
export const ClusterWide = defineKind({
  group,
  kind: 'ClusterWide',
  scope: 'Cluster',
  versions: { v1: { spec: s.object({ size: s.int32() }) } },
})
export const Named = defineKind({
  group,
  kind: 'Named',
  singular: 'nm',
  plural: 'namedthings',
  shortNames: ['n', 'nt'],
  categories: ['all', 'things'],
  versions: { v1: { spec: s.object({ size: s.int32() }) } },
})
export const Columned = defineKind({
  group,
  kind: 'Columned',
  versions: {
    v1: {
      spec: s.object({ size: s.int32(), until: s.time().optional() }),
      status: s.object({ phase: s.string().optional() }),
      columns: {
        Size: { jsonPath: '.spec.size', type: 'integer', format: 'int32', description: 'how many' },
        Phase: { jsonPath: '.status.phase', type: 'string', priority: 1 },
        Age: '.metadata.creationTimestamp',
      },
    },
  },
})
export const Scaled = defineKind({
  group,
  kind: 'Scaled',
  versions: {
    v1: {
      spec: s.object({ replicas: s.int32({ minimum: 0 }).default(1) }),
      status: s.object({ replicas: s.int32().optional(), selector: s.string().optional() }),
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    },
  },
})
export const Selectable = defineKind({
  group,
  kind: 'Selectable',
  versions: {
    v1: {
      spec: s.object({ color: s.string(), node: s.string().optional() }),
      selectableFields: ['.spec.color', '.spec.node'],
    },
  },
})
export const Annotated = defineKind({
  group,
  kind: 'Annotated',
  annotations: { 'example.com/owner': 'fleet' },
  labels: { tier: 'gold' },
  versions: { v1: { spec: s.object({ size: s.int32() }) } },
})
export const PlainStatus = defineKind({
  group,
  kind: 'PlainStatus',
  versions: {
    v1: {
      spec: s.object({ size: s.int32() }),
      status: s.object({ done: s.boolean().optional() }),
      statusSubresource: false,
    },
  },
})
