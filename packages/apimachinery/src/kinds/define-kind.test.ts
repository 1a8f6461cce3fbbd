import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMachineryError } from '../errors.ts'
import { compileSchema } from '../schema/compile.ts'
import type { Schema } from '../schema/schema.ts'
import { checkStructural } from '../schema/structural.ts'
import { toCustomResourceDefinition } from './crd.ts'
import { resourceInfoFromCrd } from './crd-resource-info.ts'
import { defineKind } from './define-kind.ts'
import { s } from './s.ts'

const container: Schema = {
  type: 'object',
  name: 'io.k8s.api.core.v1.Container',
  description: 'prose',
  properties: {
    name: { type: 'string', description: 'more prose' },
    protocol: { type: 'string', enum: ['TCP', 'UDP'], default: 'TCP' },
    cpu: { 'x-kubernetes-int-or-string': true, name: 'Quantity' },
    raw: { type: 'object' },
    ports: {
      type: 'array',
      items: { type: 'integer', format: 'int32' },
      'x-kubernetes-patch-strategy': 'merge',
    },
  },
  required: ['name'],
}
const Container = { schema: () => container, types: undefined as never as { object: { name: string } } }

const At = defineKind({
  group: 'cnat.example.com',
  kind: 'At',
  shortNames: ['a'],
  categories: ['all'],
  annotations: { note: 'x' },
  versions: {
    v1alpha1: {
      spec: s.object({ schedule: s.time() }),
      served: false,
      deprecated: 'use v1',
    },
    v1: {
      storage: true,
      doc: 'Runs something at a time.',
      spec: s
        .object({
          schedule: s.time().doc('When to run. In RFC 3339.').immutable(),
          retries: s.int32({ minimum: 0, maximum: 10 }).default(3),
          policy: s.enumOf('Allow', 'Forbid').default('Allow'),
          surge: s.intOrString().optional(),
          size: s.quantity().optional(),
          containers: s.listMap(['name'], s.ref(Container)),
          tags: s.set(s.string({ maxLength: 5 })).optional(),
          labels: s.map(s.string()).optional(),
          template: s.embedded().optional(),
          note: s.string().pattern('^a+$').nullable().optional(),
          a: s.boolean().optional(),
          b: s.boolean().optional(),
        })
        .atMostOneOf(['a', 'b'])
        .cel('self.retries < 5', { message: 'few', fieldPath: '.retries' }),
      status: s.object({
        replicas: s.int32().optional(),
        selector: s.string().optional(),
        conditions: s.conditions().optional(),
      }),
      columns: {
        Schedule: '.spec.schedule',
        Retries: { jsonPath: '.spec.retries', priority: 1 },
        Age: '.metadata.creationTimestamp',
      },
      scale: { specReplicasPath: '.spec.retries', statusReplicasPath: '.status.replicas' },
      selectableFields: ['.spec.policy'],
    },
  },
})

function specSchema(): Schema {
  return At.v1.schema().properties!.spec!
}

describe('defineKind', () => {
  it('has a handle for every version', () => {
    const { schema, ...rest } = At.v1
    assert.deepEqual(rest, {
      group: 'cnat.example.com',
      version: 'v1',
      kind: 'At',
      listKind: 'AtList',
      resource: 'ats',
      singular: 'at',
      namespaced: true,
    })
    assert.equal(schema(), schema())
    assert.deepEqual(Object.keys(At), ['v1alpha1', 'v1'])
  })

  it('guesses plurals as Kubernetes does, and takes the given ones', () => {
    const plural = (kind: string, given?: string) =>
      defineKind({
        group: 'g',
        kind,
        ...(given === undefined ? {} : { plural: given }),
        scope: 'Cluster',
        versions: { v1: {} },
      }).v1
    assert.equal(plural('Policy').resource, 'policies')
    assert.equal(plural('Gateway').resource, 'gateways')
    assert.equal(plural('Mesh').resource, 'meshes')
    assert.equal(plural('Data', 'datums').resource, 'datums')
    assert.equal(plural('Data').namespaced, false)
  })

  it('requires what is neither optional nor defaulted', () => {
    assert.deepEqual(specSchema().required, ['schedule', 'containers'])
    assert.deepEqual(At.v1.schema().required, ['spec'])
  })

  it('emits the rules of controller-gen for fields that exclude each other', () => {
    assert.deepEqual(specSchema()['x-kubernetes-validations'], [
      {
        rule: '(has(self.a)?1:0)+(has(self.b)?1:0) <= 1',
        message: 'at most one of the fields in [a b] may be set',
      },
      { rule: 'self.retries < 5', message: 'few', fieldPath: '.retries' },
    ])
  })

  it('embeds built-in schemas without descriptions, enums and patch strategies', () => {
    assert.deepEqual(specSchema().properties!.containers!.items, {
      type: 'object',
      properties: {
        name: { type: 'string' },
        protocol: { type: 'string', default: 'TCP' },
        cpu: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        ports: { type: 'array', items: { type: 'integer', format: 'int32' } },
      },
      required: ['name'],
    })
  })

  it('writes a union as optional fields of which exactly one is set', () => {
    const { schema } = s.union({ http: s.string(), exec: s.list(s.string()) })
    assert.equal(schema.required, undefined)
    assert.equal(
      schema['x-kubernetes-validations']?.[0]?.rule,
      '(has(self.http)?1:0)+(has(self.exec)?1:0) == 1',
    )
  })

  it('embeds metadata, quantities and keys with zero values as controller-gen does', () => {
    const template: Schema = {
      type: 'object',
      properties: {
        metadata: { type: 'object', name: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', properties: {} },
        cpu: { 'x-kubernetes-int-or-string': true, name: 'io.k8s.apimachinery.pkg.api.resource.Quantity' },
        secrets: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string' } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
      },
    }
    const { properties } = s.ref({ schema: () => template }).schema
    assert.deepEqual(properties?.secrets?.items?.properties, { name: { type: 'string', default: '' } })
    assert.deepEqual(properties?.metadata, s.objectMeta().schema)
    assert.deepEqual(properties?.cpu, s.quantity().schema)
  })

  it('rejects definitions that no server would accept', () => {
    const refuse = (make: () => unknown, message: RegExp) =>
      assert.throws(make, error => isMachineryError(error, 'BadKind') && message.test(error.message))
    refuse(() => defineKind({ group: 'g', kind: 'K', versions: { v1: {}, v2: {} } }), /exactly one version/)
    refuse(
      () => defineKind({ group: 'g', kind: 'K', versions: { v1: { spec: s.schema({ type: 'array' }) } } }),
      /K\.g: v1: properties\[spec\]\.items: Required value: must be specified/,
    )
    refuse(
      () =>
        defineKind({
          group: 'g',
          kind: 'K',
          versions: { v1: { spec: s.object({ n: s.int32({ minimum: 5 }).default(1) }) } },
        }),
      /properties\[n\]\.default: Invalid value: 1: {2}in body should be greater than or equal to 5/,
    )
    refuse(
      () =>
        defineKind({ group: 'g', kind: 'K', versions: { v1: { spec: s.set(s.object({ a: s.string() })) } } }),
      /must be atomic as item of a list/,
    )
    refuse(() => s.listMap(['name'], s.object({ name: s.string().optional() })), /required or have a default/)
    const self: { type: 'object'; name: string; properties: Record<string, Schema> } = {
      type: 'object',
      name: 'Self',
      properties: {},
    }
    self.properties.self = self
    refuse(() => s.ref({ schema: () => self }), /Self refers to itself/)
  })

  it('knows what a condition is', () => {
    const now = '2026-01-01T00:00:00Z'
    const good = {
      type: 'example.com/Ready',
      status: 'True',
      reason: 'Ok',
      message: '',
      lastTransitionTime: now,
    }
    const spec = { schedule: now, containers: [] }
    const check = (condition: object) =>
      compileSchema(At.v1.schema())
        .validate({ spec, status: { conditions: [condition] } })
        .map(error => error.field)
    assert.deepEqual(check(good), [])
    assert.deepEqual(check({ ...good, status: 'Maybe', reason: '-' }), [
      'status.conditions[0].status',
      'status.conditions[0].reason',
    ])
  })

  it('validates, defaults and prunes with its schema', () => {
    const object = {
      spec: {
        schedule: 'never',
        containers: [{ name: 'a', extra: 1 }, { name: 'a' }],
        tags: ['a', 'a'],
        note: 'b',
        surge: true,
      },
    }
    const schema = compileSchema(At.v1.schema())
    assert.deepEqual(schema.prune(object, { resourceRoot: true }), ['spec.containers[0].extra'])
    schema.applyDefaults(object)
    assert.equal((object.spec as Record<string, unknown>).retries, 3)
    assert.deepEqual(
      schema.validate(object).map(error => `${error.field}: ${error.body}`),
      [
        'spec.schedule: Invalid value: "never": spec.schedule in body must be of type date-time: "never"',
        `spec.note: Invalid value: "b": spec.note in body should match '^a+$'`,
        'spec.surge: Invalid value: "boolean": spec.surge in body must be of type integer,string: "boolean"',
        '<nil>: Invalid value: "": "spec.surge" must validate at least one schema (anyOf)',
        'spec.surge: Invalid value: "boolean": spec.surge in body must be of type integer: "boolean"',
        'spec.containers[1]: Duplicate value: {"name":"a"}',
        'spec.tags[1]: Duplicate value: "a"',
      ],
    )
  })
})

describe('toCustomResourceDefinition', () => {
  const crd = toCustomResourceDefinition(At)

  it('has sorted keys and every option', () => {
    assert.deepEqual(Object.keys(crd), ['apiVersion', 'kind', 'metadata', 'spec'])
    assert.deepEqual(crd.metadata, { annotations: { note: 'x' }, name: 'ats.cnat.example.com' })
    assert.deepEqual(crd.spec.names, {
      categories: ['all'],
      kind: 'At',
      listKind: 'AtList',
      plural: 'ats',
      shortNames: ['a'],
      singular: 'at',
    })
    const [old, current] = crd.spec.versions
    assert.deepEqual(
      [old?.served, old?.storage, old?.deprecated, old?.deprecationWarning, old?.subresources],
      [false, false, true, 'use v1', undefined],
    )
    assert.deepEqual(current?.subresources, {
      scale: { specReplicasPath: '.spec.retries', statusReplicasPath: '.status.replicas' },
      status: {},
    })
    assert.deepEqual(current?.selectableFields, [{ jsonPath: '.spec.policy' }])
    assert.deepEqual(current?.additionalPrinterColumns, [
      { jsonPath: '.spec.schedule', name: 'Schedule', type: 'string' },
      { jsonPath: '.spec.retries', name: 'Retries', priority: 1, type: 'integer' },
      { jsonPath: '.metadata.creationTimestamp', name: 'Age', type: 'date' },
    ])
  })

  it('is structural in every version', () => {
    for (const version of crd.spec.versions)
      assert.deepEqual(checkStructural(version.schema!.openAPIV3Schema!), [])
  })

  it('writes the same text every time', () => {
    assert.equal(JSON.stringify(crd), JSON.stringify(toCustomResourceDefinition(At)))
  })

  it('carries the conversion it is given', () => {
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } as const
    assert.deepEqual(toCustomResourceDefinition(At, { conversion }).spec.conversion, conversion)
  })

  it('truncates descriptions at the end of a sentence', () => {
    const description = (maxDescriptionLength: number) =>
      toCustomResourceDefinition(At, { maxDescriptionLength }).spec.versions[1]!.schema!.openAPIV3Schema!
        .properties!.spec!.properties!.schedule!.description
    assert.equal(description(20), 'When to run.')
    assert.equal(description(0), undefined)
    assert.equal(description(100), 'When to run. In RFC 3339.')
  })
})

describe('resourceInfoFromCrd', () => {
  it('gives the same for a CRD as for the kind it was made from', () => {
    const info = resourceInfoFromCrd(toCustomResourceDefinition(At))
    assert.deepEqual(
      info.versions.map(version => [version.name, version.served, version.storage, version.deprecated]),
      [
        ['v1', true, true, undefined],
        ['v1alpha1', false, false, 'use v1'],
      ],
    )
    assert.deepEqual(info.versions[0]?.selectableFields, ['spec.policy'])
    assert.deepEqual(
      info.versions[0]?.subresources.map(subresource => subresource.name),
      ['status', 'scale'],
    )
    assert.equal(info.versions[0]?.columns[1]?.priority, 1)
    assert.deepEqual(info.versions[1]?.columns, [
      { name: 'Age', type: 'date', priority: 0, jsonPath: '.metadata.creationTimestamp' },
    ])
  })

  it('fills in what a CRD may leave out', () => {
    const info = resourceInfoFromCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'ks.g' },
      spec: {
        group: 'g',
        names: { kind: 'K', plural: 'ks' },
        scope: 'Cluster',
        versions: [{ name: 'v1', served: true, storage: true, deprecated: true }],
      },
    })
    assert.deepEqual([info.singular, info.listKind, info.namespaced], ['k', 'KList', false])
    assert.equal(info.versions[0]?.deprecated, 'g/v1 K is deprecated')
    assert.equal(info.versions[0]?.schema()['x-kubernetes-preserve-unknown-fields'], true)
  })
})
