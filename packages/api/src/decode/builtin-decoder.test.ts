import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeBuiltin, maxElements } from './builtin-decoder.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of all kinds, whose members tests name
const decode = (group: string, version: string, kind: string, value: object): any =>
  decodeBuiltin({ group, version, kind }, value).object

describe('decodeBuiltin', () => {
  it('refuses lists that have more elements than any object that can be stored', () => {
    const pod = { group: '', version: 'v1', kind: 'Pod' }
    const decode = (count: number) => decodeBuiltin(pod, { spec: { containers: Array(count).fill({}) } })
    const message = 'Request entity too large: the lists of an object may have 100000 elements altogether'
    assert.throws(() => decode(maxElements + 1), { code: 413, message })
    assert.equal((decode(1000).object as { spec: { containers: [] } }).spec.containers.length, 1000)
    const finalizers = Array(maxElements + 1).fill('a/b')
    assert.doesNotThrow(() => decodeBuiltin(pod, { metadata: { finalizers } }), 'strings are not counted')
  })

  it('rounds amounts of resources up to thousandths, wherever they stand', () => {
    const amounts = {
      cpu: '100.5m',
      memory: '1u',
      'example.com/a': '1e-5',
      'example.com/b': '-1n',
      pods: '1.5',
    }
    const rounded = {
      cpu: '101m',
      'example.com/a': '1e-3',
      'example.com/b': '-1m',
      memory: '1m',
      pods: '1500m',
    }
    const template = { spec: { containers: [{ name: 'c', resources: { requests: amounts } }] } }
    const job = decode('batch', 'v1', 'Job', { spec: { template } })
    assert.deepEqual(job.spec.template.spec.containers[0]!.resources.requests, rounded)
    const quota = decode('', 'v1', 'ResourceQuota', { spec: { hard: amounts } })
    assert.deepEqual(quota.spec.hard, rounded)
    const node = decode('', 'v1', 'Node', { status: { capacity: amounts } })
    assert.deepEqual(node.status.capacity, rounded)
  })

  it('leaves the precision of other quantities alone', () => {
    const overhead = { podFixed: { cpu: '100.5m' } }
    assert.deepEqual(decode('node.k8s.io', 'v1', 'RuntimeClass', { overhead }).overhead, {
      podFixed: { cpu: '100500u' },
    })
    const emptyDir = { sizeLimit: '100.5m' }
    const pod = decode('', 'v1', 'Pod', { spec: { volumes: [{ name: 'v', emptyDir }] } })
    assert.match(JSON.stringify(pod), /"sizeLimit":"100500u"/)
  })

  it('reads the schemas of items and maps as schemas: without nulls and unknown fields', () => {
    const inner = { type: 'object', properties: { a: { type: 'string', format: null, foo: 1 }, b: null } }
    const schema = {
      properties: {
        list: { type: 'array', items: { ...inner, required: null } },
        map: { type: 'object', additionalProperties: inner },
        any: { additionalProperties: true, items: [null, { type: 'string' }] },
      },
    }
    const versions = [{ name: 'v1', schema: { openAPIV3Schema: schema } }]
    const { spec } = decode('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', { spec: { versions } })
    const read = { type: 'object', properties: { a: { type: 'string' }, b: {} } }
    assert.deepEqual(spec.versions[0].schema.openAPIV3Schema.properties, {
      any: { items: [{}, { type: 'string' }], additionalProperties: true },
      list: { type: 'array', items: read },
      map: { type: 'object', additionalProperties: read },
    })
  })
})
