import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { endpointSliceStrategy } from '../discovery/endpoint-slice.ts'
import type { Strategy, StrategyContext } from '../strategy.ts'
import { ingressStrategy } from './ingress.ts'
import { ingressClassStrategy } from './ingress-class.ts'
import { ipAddressStrategy } from './ip-address.ts'
import { networkPolicyStrategy } from './network-policy.ts'
import { serviceCIDRStrategy } from './service-cidr.ts'

const context = {} as StrategyContext

/** The errors of a strategy about an object, as `field: message`. */
function problems(strategy: Strategy, object: JsonObject, old?: JsonObject): string[] {
  strategy.default?.(object)
  const errors = [
    ...(strategy.validate?.(object, context, old) ?? []),
    ...(old ? (strategy.validateUpdate?.(object, old, context) ?? []) : []),
  ]
  return errors.map(error => `${error.field}: ${error.body}`)
}

const ingress = (spec: JsonObject): JsonObject => ({ metadata: { name: 'a' }, spec })
const backend = { service: { name: 's', port: { number: 80 } } }

describe('ingressStrategy', () => {
  it('wants a rule or a default backend', () => {
    assert.deepEqual(problems(ingressStrategy, ingress({})), [
      'spec: Invalid value: null: either `defaultBackend` or `rules` must be specified',
    ])
    assert.deepEqual(problems(ingressStrategy, ingress({ defaultBackend: backend })), [])
  })

  it('refuses paths that could be read in two ways', () => {
    const paths = ['a', '/a//b', '/a/..'].map(path => ({ path, pathType: 'Prefix', backend }))
    const rule = { host: '*.example.com', http: { paths } }
    const at = 'spec.rules[0].http.paths'
    assert.deepEqual(problems(ingressStrategy, ingress({ rules: [rule] })), [
      `${at}[0].path: Invalid value: "a": must be an absolute path`,
      `${at}[1].path: Invalid value: "/a//b": must not contain '//'`,
      `${at}[2].path: Invalid value: "/a/..": cannot end with '/..'`,
    ])
  })

  it('lets a bad secret name stay that an older server took', () => {
    const spec = { defaultBackend: backend, tls: [{ secretName: 'Not A Name' }] }
    assert.equal(problems(ingressStrategy, ingress(spec)).length, 1)
    assert.deepEqual(problems(ingressStrategy, ingress(spec), ingress(spec)), [])
  })
})

describe('ingressClassStrategy', () => {
  const ingressClass = (spec: JsonObject): JsonObject => ({ metadata: { name: 'a' }, spec })

  it('keeps its controller', () => {
    const old = ingressClass({ controller: 'example.com/a' })
    assert.deepEqual(problems(ingressClassStrategy, ingressClass({ controller: 'example.com/b' }), old), [
      'spec.controller: Invalid value: "example.com/b": field is immutable',
    ])
  })

  it('takes parameters for cluster-scoped ones by default', () => {
    const object = ingressClass({ controller: 'example.com/a', parameters: { kind: 'K', name: 'n' } })
    assert.deepEqual(problems(ingressClassStrategy, object), [])
    assert.equal((object.spec as { parameters: JsonObject }).parameters.scope, 'Cluster')
  })
})

describe('networkPolicyStrategy', () => {
  const policy = (spec: JsonObject): JsonObject => ({ metadata: { name: 'a' }, spec })

  it('means traffic out too when there are rules for it', () => {
    const object = policy({ podSelector: {}, egress: [{ ports: [{ port: 53 }] }] })
    assert.deepEqual(problems(networkPolicyStrategy, object), [])
    assert.deepEqual((object.spec as JsonObject).policyTypes, ['Ingress', 'Egress'])
  })

  it('wants exceptions to be a part of their block', () => {
    const from = ['10.0.1.0/24', '10.0.0.0/16', '11.0.0.0/24', 'fd00::/64'].map(except => ({
      ipBlock: { cidr: '10.0.0.0/16', except: [except] },
    }))
    const found = problems(networkPolicyStrategy, policy({ podSelector: {}, ingress: [{ from }] }))
    const fields = found.map(text => text.split(':')[0])
    assert.deepEqual(
      fields,
      [1, 2, 3].map(index => `spec.ingress[0].from[${index}].ipBlock.except[0]`),
    )
  })

  it('refuses a peer that is both a block and a selector', () => {
    const peer = { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }
    assert.deepEqual(problems(networkPolicyStrategy, policy({ ingress: [{ from: [peer] }] })), [
      'spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer',
    ])
  })
})

describe('ipAddressStrategy', () => {
  it('takes canonical addresses for names and nothing else', () => {
    const { validateName } = ipAddressStrategy
    assert.deepEqual(validateName?.('10.0.0.1', false), [])
    assert.deepEqual(validateName?.('2001:DB8::1', false), ['must be in canonical form ("2001:db8::1")'])
    assert.equal(validateName?.('10.0.0.01', false).length, 1)
  })
})

describe('serviceCIDRStrategy', () => {
  const range = (...cidrs: string[]): JsonObject => ({ metadata: { name: 'a' }, spec: { cidrs } })

  it('may get a second family, and nothing else may change', () => {
    const old = range('10.0.0.0/24')
    assert.deepEqual(problems(serviceCIDRStrategy, range('10.0.0.0/24', 'fd00::/112'), old), [])
    assert.equal(problems(serviceCIDRStrategy, range('10.0.1.0/24'), old).length, 1)
    assert.equal(problems(serviceCIDRStrategy, range('10.0.0.0/24', '10.0.1.0/24'), old).length, 1)
    assert.equal(problems(serviceCIDRStrategy, range(), old).length, 1)
  })
})

describe('endpointSliceStrategy', () => {
  const slice = (addressType: string, ...addresses: string[]): JsonObject => ({
    metadata: { name: 'a' },
    addressType,
    endpoints: addresses.map(address => ({ addresses: [address] })),
  })

  it('wants addresses of its type that others can reach', () => {
    const object = slice('IPv4', '10.0.0.1', '127.0.0.1', '169.254.1.1', '0.0.0.0', '224.0.0.1')
    const fields = problems(endpointSliceStrategy, object).map(text => text.split(':')[0])
    assert.deepEqual(
      fields,
      [1, 2, 3, 4].map(index => `endpoints[${index}].addresses[0]`),
    )
    assert.equal(problems(endpointSliceStrategy, slice('IPv4', 'fd00::1')).length, 1)
    assert.deepEqual(problems(endpointSliceStrategy, slice('FQDN', 'a.example.com.')), [])
  })

  it('lets endpoints stay that are as they were', () => {
    const bad = slice('IPv4', '127.0.0.1')
    assert.deepEqual(problems(endpointSliceStrategy, structuredClone(bad), bad), [])
  })
})
