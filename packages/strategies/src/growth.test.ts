/** Validation takes time linear in the length of lists: no check compares every pair of elements. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'

import { findOverlap } from './batch/indexes.ts'
import { certificateSigningRequestStrategy } from './certificates/certificate-signing-request.ts'
import { stampConditions } from './certificates/conditions.ts'
import { nodeStrategy } from './core/node.ts'
import { validateClusterIPs } from './core/service/families.ts'
import { ingressStrategy } from './networking/ingress.ts'
import { networkPolicyStrategy } from './networking/network-policy.ts'
import { runtimeClassStrategy } from './node-k8s-io/runtime-class.ts'
import { validateBindingConditions } from './resource/claim-status.ts'
import { csiNodeStrategy } from './storage/csi-node.ts'
import { storageClassStrategy } from './storage/storage-class.ts'
import { findProblems } from './test-support/find-problems.ts'

const many = 60_000
const list = <T>(make: (index: number) => T, length = many): T[] =>
  Array.from({ length }, (_, index) => make(index))
const metadata = { name: 'a' }

/** Milliseconds of CPU time, far more than any case needs; comparing all pairs takes several times as long. */
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
        metadata: {},
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
