/** Long lists take no more time than their length: no check looks at every pair of elements. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { field, validateCrdSchema } from '@coxswain/apimachinery'
import { denyServiceExternalIPs } from '../admission/deny-service-external-ips.ts'
import { checkRules } from '../crd/rule-checks.ts'
import { validateDefinition } from '../crd/validation.ts'
import type { JsonObject } from '../json.ts'
import { stampConditions } from './certificates/conditions.ts'
import { certificateSigningRequestStrategy } from './certificates/signing-request.ts'
import { nodeStrategy } from './core/node.ts'
import { ingressStrategy } from './networking/ingress.ts'
import { networkPolicyStrategy } from './networking/network-policy.ts'
import { runtimeClassStrategy } from './node/runtime-class.ts'
import { validateBindingConditions } from './resource/claim-status.ts'
import { validateClusterIPs } from './service/families.ts'
import { csiNodeStrategy } from './storage/csi-node.ts'
import { storageClassStrategy } from './storage/storage-class.ts'
import { findProblems } from './test-support/find-problems.ts'
import { findOverlap } from './workloads/indexes.ts'

const many = 60_000
const list = <T>(make: (index: number) => T, length = many): T[] =>
  Array.from({ length }, (_, index) => make(index))
const metadata = { name: 'a' }

/** Milliseconds of processor time that nothing here needs; looking at all pairs takes several times as long. */
const limit = 1_500

function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const rows: readonly (readonly [what: string, run: () => unknown])[] = [
  [
    'topology keys of a CSI node',
    () =>
      findProblems(csiNodeStrategy, {
        metadata,
        spec: { drivers: [{ name: 'a', nodeID: 'a', topologyKeys: list(i => `k${i}`) }] },
      }),
  ],
  [
    'drivers of a CSI node that change',
    () => {
      const node = (id: string) => ({
        metadata,
        spec: { drivers: list(i => ({ name: `d${i}`, nodeID: id }), 20_000) },
      })
      return findProblems(csiNodeStrategy, node('a'), node('b'))
    },
  ],
  [
    'values of a storage class',
    () =>
      findProblems(storageClassStrategy, {
        metadata,
        provisioner: 'a',
        allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: list(i => `v${i}`) }] }],
      }),
  ],
  [
    'terms of a storage class',
    () =>
      findProblems(storageClassStrategy, {
        metadata,
        provisioner: 'a',
        allowedTopologies: list(i => ({ matchLabelExpressions: [{ key: 'a', values: [`v${i}`] }] }), 20_000),
      }),
  ],
  [
    'addresses of a node',
    () => {
      const node: JsonObject = {
        metadata,
        status: { addresses: list(i => ({ type: 'Hostname', address: `h${i}` }), 20_000) },
      }
      return [...(nodeStrategy.validateStatusUpdate?.(node, { metadata }, {} as never) ?? [])]
    },
  ],
  [
    'tolerations of a runtime class',
    () =>
      findProblems(runtimeClassStrategy, {
        metadata,
        handler: 'a',
        scheduling: { tolerations: list(i => ({ key: `k${i}`, operator: 'Exists' }), 20_000) },
      }),
  ],
  [
    'usages of a certificate',
    () =>
      findProblems(certificateSigningRequestStrategy, {
        metadata,
        spec: { signerName: 'a.b/c', usages: list(i => `u${i}`) },
      }),
  ],
  [
    'conditions of a certificate',
    () => {
      const request = () => ({
        status: { conditions: list(i => ({ type: `T${i}`, status: 'True' })) },
      })
      stampConditions(request(), request(), 0)
    },
  ],
  [
    'binding conditions of a device',
    () => {
      const conditions = list(i => `c${i}`)
      const device = { bindingConditions: conditions, bindingFailureConditions: conditions.toReversed() }
      return [...validateBindingConditions(device, field.Path.of('a'))]
    },
  ],
  [
    'indexes of a job',
    () => findOverlap(list(i => i * 4).join(','), list(i => i * 4 + 2).join(','), 4 * many),
  ],
  [
    'addresses of a service that it had before',
    () => {
      const spec = { clusterIP: '10.0.0.1', clusterIPs: list(i => `10.0.${i >> 8}.${i & 255}`) }
      return [...validateClusterIPs({ ...spec }, { ...spec, clusterIPs: spec.clusterIPs.toReversed() })]
    },
  ],
  [
    'blocks of a network policy that it had before',
    () => {
      const policy = (first: number) => ({
        metadata,
        spec: {
          podSelector: {},
          ingress: [
            { from: list(i => ({ ipBlock: { cidr: `10.${first}.${i >> 8}.${i & 255}/32` } }), 30_000) },
          ],
        },
      })
      return findProblems(networkPolicyStrategy, policy(1), policy(2))
    },
  ],
  [
    'addresses of an ingress that it had before',
    () => {
      const ingress = (first: number) => ({
        metadata,
        status: { loadBalancer: { ingress: list(i => ({ ip: `10.${first}.${i >> 8}.${i & 255}` })) } },
      })
      return [...(ingressStrategy.validateStatusUpdate?.(ingress(1), ingress(2), {} as never) ?? [])]
    },
  ],
  [
    'external addresses of a service that it had before',
    () => {
      const service = (first: number) => ({
        spec: { externalIPs: list(i => `10.${first}.${i >> 8}.${i & 255}`) },
      })
      const resource = { info: { group: '', resource: 'services' } }
      const object = service(1)
      const oldObject = { spec: { externalIPs: object.spec.externalIPs.toReversed() } }
      return denyServiceExternalIPs.validate?.({
        operation: 'UPDATE',
        resource,
        subresource: '',
        object,
        oldObject,
      } as never)
    },
  ],
  [
    'rules of a schema with many problems',
    () => {
      const rule = { type: 'object' as const, 'x-kubernetes-validations': [{ rule: 'true' }] }
      const properties = Object.fromEntries(list(i => [`p${i}`, rule], 2_000))
      const path = field.Path.of('a')
      const problems = list(i => field.required(path.child(`q${i}`)))
      return checkRules({ type: 'object', properties }, path, { unchanged: false, problems })
    },
  ],
  [
    'keys of a list map',
    () => {
      const schema = {
        type: 'array' as const,
        'x-kubernetes-list-type': 'map' as const,
        'x-kubernetes-list-map-keys': list(i => `k${i}`),
        items: {
          type: 'object' as const,
          properties: Object.fromEntries(list(i => [`k${i}`, { type: 'string' as const }])),
          required: list(i => `k${i}`),
        },
      }
      return validateCrdSchema({ type: 'object', properties: { a: schema } })
    },
  ],
  [
    'versions of a definition',
    () => {
      const definition = (): JsonObject => ({
        metadata: { name: 'as.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Cluster',
          names: { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' },
          versions: list(
            i => ({
              name: `v${i}`,
              served: true,
              storage: i === 0,
              schema: { openAPIV3Schema: { type: 'object' } },
            }),
            5_000,
          ),
        },
        status: { storedVersions: ['v0'] },
      })
      return validateDefinition(definition(), definition())
    },
  ],
]

describe('long lists', () => {
  for (const [what, run] of rows) {
    it(`take no time for their pairs: ${what}`, () => {
      const before = processorTime()
      run()
      const taken = processorTime() - before
      assert.ok(taken < limit, `${Math.round(taken)} ms`)
    })
  }
})
