import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Strategy, StrategyContext } from '../strategy.ts'
import { configMapStrategy } from './config-map.ts'
import { limitRangeStrategy } from './limit-range.ts'
import { nodeStrategy } from './node.ts'
import { persistentVolumeStrategy } from './persistent-volume.ts'
import { persistentVolumeClaimStrategy } from './persistent-volume-claim.ts'
import { resourceQuotaStrategy } from './resource-quota.ts'
import { secretStrategy } from './secret.ts'

const context = {} as StrategyContext
const metadata = { name: 'a' }
const encode = (text: string) => btoa(text)

const errorsOf = (strategy: Strategy, object: JsonObject, old?: JsonObject): string[] => {
  const errors = [
    ...(strategy.validate?.(object, context, old) ?? []),
    ...(old ? (strategy.validateUpdate?.(object, old, context) ?? []) : []),
  ]
  return errors.map(({ field, body }) => `${field}: ${body}`)
}

describe('config maps', () => {
  it('have keys that can be file names, each once', () => {
    const errors = errorsOf(configMapStrategy, {
      metadata,
      data: { 'a b': '', c: '' },
      binaryData: { c: '' },
    })
    assert.deepEqual(
      errors.map(error => error.split(':')[0]),
      ['data[a b]', 'data[c]'],
    )
  })

  it('may have a mebibyte, counted in bytes', () => {
    assert.deepEqual(errorsOf(configMapStrategy, { metadata, data: { a: 'x'.repeat(1024 * 1024) } }), [])
    assert.equal(errorsOf(configMapStrategy, { metadata, data: { a: 'é'.repeat(600 * 1024) } }).length, 1)
  })

  it('stay immutable once they are', () => {
    const old = { metadata, immutable: true, data: { a: '1' } }
    const errors = errorsOf(configMapStrategy, { metadata, data: { a: '2' } }, old)
    assert.deepEqual(errors, [
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ])
  })
})

describe('secrets', () => {
  it('take plain text over data of the same key', () => {
    const secret: JsonObject = { metadata, data: { a: encode('old') }, stringData: { a: 'new' } }
    secretStrategy.default?.(secret)
    assert.deepEqual(secret, { metadata, type: 'Opaque', data: { a: encode('new') } })
  })

  it('of well-known types have what the type needs', () => {
    const data = { '.dockerconfigjson': encode('[]') }
    assert.deepEqual(errorsOf(secretStrategy, { metadata, type: 'kubernetes.io/dockerconfigjson', data }), [
      'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
    ])
    assert.equal(errorsOf(secretStrategy, { metadata, type: 'kubernetes.io/tls', data: {} }).length, 2)
  })
})

describe('limit ranges', () => {
  it('of containers take the maximum for the default, and the default for the request', () => {
    const limit = { type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }
    const range = { metadata, spec: { limits: [limit] } }
    limitRangeStrategy.default?.(range)
    assert.deepEqual(range.spec.limits[0], {
      ...limit,
      default: { cpu: '2' },
      defaultRequest: { cpu: '2', memory: '1Mi' },
    })
  })

  it('have a minimum below the maximum and a ratio that fits between them', () => {
    const limit = { type: 'Pod', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '3' } }
    assert.deepEqual(errorsOf(limitRangeStrategy, { metadata, spec: { limits: [limit] } }), [
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
    ])
  })
})

describe('resource quotas', () => {
  it('apply a scope only to what it can select', () => {
    const spec = { hard: { services: '1' }, scopes: ['BestEffort'] }
    assert.deepEqual(errorsOf(resourceQuotaStrategy, { metadata, spec }), [
      'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
    ])
  })

  it('warn when requests may be larger than limits', () => {
    const object = { metadata, spec: { hard: { cpu: '4', 'limits.cpu': '2' } } }
    assert.deepEqual(resourceQuotaStrategy.warnings?.(object, undefined), [
      'ResourceQuota cpu (4) should be less than limits.cpu (2)',
    ])
  })
})

describe('nodes', () => {
  it('have taints that are unique by key and effect', () => {
    const taint = { key: 'a', effect: 'NoSchedule' }
    const [error = ''] = errorsOf(nodeStrategy, { metadata, spec: { taints: [taint, taint] } })
    assert.match(error, /^metadata\.taints\[1\]: Duplicate value: \{"Key":"a",/)
  })

  it('have one CIDR for each family', () => {
    const spec = { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] }
    assert.equal(errorsOf(nodeStrategy, { metadata, spec }).length, 1)
    assert.deepEqual(
      errorsOf(nodeStrategy, { metadata, spec: { podCIDRs: ['10.0.0.0/24', 'fd00::/64'] } }),
      [],
    )
  })

  it('takes networks only, without bits beyond the prefix', () => {
    assert.deepEqual(errorsOf(nodeStrategy, { metadata, spec: { podCIDRs: ['10.0.0.1/24'] } }), [
      'spec.podCIDRs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
    ])
  })

  it('keep the CIDR that they were given', () => {
    const old = { metadata, spec: { podCIDRs: ['10.0.0.0/24'] } }
    const errors = errorsOf(nodeStrategy, { metadata, spec: { podCIDRs: ['10.0.1.0/24'] } }, old)
    assert.deepEqual(errors, [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    ])
  })
})

describe('persistent volumes', () => {
  const csi = { driver: 'csi.example.com', volumeHandle: 'h' }
  const spec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, csi }

  it('have exactly one source', () => {
    assert.deepEqual(errorsOf(persistentVolumeStrategy, { metadata, spec }), [])
    const two = { ...spec, hostPath: { path: '/x' } }
    assert.deepEqual(errorsOf(persistentVolumeStrategy, { metadata, spec: two }), [
      'spec.csi: Forbidden: may not specify more than 1 volume type',
    ])
  })

  it('keep their source, but may learn a secret for expansion', () => {
    const old = { metadata, spec }
    const secret = { controllerExpandSecretRef: { name: 's', namespace: 'n' } }
    const learned = { metadata, spec: { ...spec, csi: { ...csi, ...secret } } }
    assert.deepEqual(errorsOf(persistentVolumeStrategy, learned, old), [])
    const moved = { metadata, spec: { ...spec, csi: { ...csi, volumeHandle: 'other' } } }
    const [error = ''] = errorsOf(persistentVolumeStrategy, moved, old)
    assert.match(error, /- {2}"VolumeHandle": "h",\n\+ {2}"VolumeHandle": "other",/)
  })
})

describe('persistent volume claims', () => {
  const claim = (storage: string, phase: string, capacity?: string): JsonObject => ({
    metadata,
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, volumeMode: 'Filesystem' },
    status: { phase, ...(capacity && { capacity: { storage: capacity } }) },
  })

  it('grow when they are bound, and only then', () => {
    assert.deepEqual(
      errorsOf(persistentVolumeClaimStrategy, claim('2Gi', 'Bound', '1Gi'), claim('1Gi', 'Bound', '1Gi')),
      [],
    )
    const [error = ''] = errorsOf(
      persistentVolumeClaimStrategy,
      claim('2Gi', 'Pending'),
      claim('1Gi', 'Pending'),
    )
    assert.match(error, /^spec: Forbidden: spec is immutable after creation except/)
  })

  it('shrink to what they have at the least', () => {
    const old = claim('5Gi', 'Bound', '1Gi')
    assert.deepEqual(errorsOf(persistentVolumeClaimStrategy, claim('3Gi', 'Bound', '1Gi'), old), [])
    assert.deepEqual(errorsOf(persistentVolumeClaimStrategy, claim('1Gi', 'Bound', '1Gi'), old), [
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ])
  })

  it('say the same under both names of a data source', () => {
    const object = claim('1Gi', 'Pending')
    const spec = object.spec as JsonObject
    spec.dataSource = { kind: 'PersistentVolumeClaim', name: 'other' }
    persistentVolumeClaimStrategy.prepareForCreate?.(object, context)
    assert.deepEqual(spec.dataSourceRef, { kind: 'PersistentVolumeClaim', name: 'other' })
    spec.dataSource = { kind: 'Unheard', name: 'of' }
    delete spec.dataSourceRef
    persistentVolumeClaimStrategy.prepareForCreate?.(object, context)
    assert.equal(spec.dataSource, undefined)
  })
})
