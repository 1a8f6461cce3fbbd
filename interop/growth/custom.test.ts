/** Everything that grows in custom objects: sets, list maps, rules, enumerations, and definitions that are large themselves. */
import { test } from 'node:test'
import type { Schema } from '@coxswain/apimachinery/schema'
import { report } from './builtin.ts'
import { type Target, targetOf } from './samples.ts'
import { searchGrowth } from './search.ts'
import { startServer, type TestServer } from './server.ts'

const group = 'growth.example.com'
const text = { type: 'string' } as const
const port: Schema = {
  type: 'object',
  required: ['name', 'number'],
  properties: { name: text, number: { type: 'integer' }, note: text },
}

/** By the plural of the kind. */
const schemas: Readonly<Record<string, Schema>> = {
  sets: {
    type: 'object',
    properties: { items: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' } },
  },
  maps: {
    type: 'object',
    properties: {
      ports: {
        type: 'array',
        items: port,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name', 'number'],
      },
      nested: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: text, inner: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' } },
        },
      },
      labels: { type: 'object', additionalProperties: text },
      byName: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { values: { type: 'array', items: text } } },
      },
    },
  },
  rules: {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        maxItems: 10_000,
        items: { ...text, maxLength: 20, 'x-kubernetes-validations': [{ rule: "self != 'bad'" }] },
      },
      pairs: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        maxItems: 1_000,
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { ...text, maxLength: 20 }, value: { ...text, maxLength: 20 } },
          'x-kubernetes-validations': [{ rule: '!has(oldSelf.value) || has(self.value)' }],
        },
      },
    },
  },
  enums: {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: { ...text, enum: Array.from({ length: 5_000 }, (_, index) => `allowed${index}`) },
      },
      some: { type: 'array', items: { anyOf: [{ pattern: '^x' }, { maxLength: 1 }], ...text } },
      dated: { type: 'array', items: { ...text, format: 'date-time' } },
    },
  },
  open: {
    type: 'object',
    properties: {
      anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      defaulted: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'b' } } } },
    },
  },
}

const targets: readonly Target[] = Object.entries(schemas).map(([plural, spec]) => {
  const kind = `${plural[0]!.toUpperCase()}${plural.slice(1)}Kind`
  const schema: Schema = { type: 'object', properties: { metadata: { type: 'object' }, spec } }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'] as const,
    schema: () => schema,
    columns: [],
    selectableFields: [],
    subresources: [],
  }
  const info = {
    group,
    resource: plural,
    singular: kind.toLowerCase(),
    kind,
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    namespaced: true,
    versions: [version],
  }
  return targetOf({ name: `${group}/v1/${plural}`, info, version, sample: { spec: {} } })
})

/** A server that serves all of the kinds. */
async function start(): Promise<TestServer> {
  const server = await startServer()
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const { info, version } of targets) {
    const { resource: plural, singular, kind, listKind } = info
    const definition = {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular, kind, listKind },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: version.schema() } },
        ],
      },
    }
    const { status, body } = await server.send({
      method: 'POST',
      path,
      body: Buffer.from(JSON.stringify(definition)),
    })
    if (status !== 201) throw new Error(Buffer.from(body).toString())
    const served = { method: 'GET', path: `/apis/${group}/v1/namespaces/default/${plural}` }
    while ((await server.send(served)).status !== 200) await new Promise(resolve => setImmediate(resolve))
  }
  return server
}

test('no write of a custom kind takes more time than its length explains', async () => {
  report(await searchGrowth(targets, { start }))
})
