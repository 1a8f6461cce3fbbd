/** Validation of long lists takes linear time: no check compares every pair of elements. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as field from '@coxswain/apimachinery/field'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { validateCrdSchema } from '@coxswain/apimachinery/schema'
import { checkRules, validateCrd } from '@coxswain/strategies/apiextensions'
import { denyServiceExternalIPs } from './admission/deny-service-external-ips.ts'

const many = 60_000
const list = <T>(make: (index: number) => T, length = many): T[] =>
  Array.from({ length }, (_, index) => make(index))

/** Milliseconds of processor time, far more than needed here; comparing all pairs takes several times as long. */
const limit = 1_500

function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const rows: readonly (readonly [what: string, run: () => unknown])[] = [
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
    'versions of a crd',
    () => {
      const crd = (): JsonObject => ({
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
      return validateCrd(crd(), crd())
    },
  ],
]

describe('long lists', () => {
  for (const [what, run] of rows) {
    it(`take linear time: ${what}`, () => {
      const before = processorTime()
      run()
      const taken = processorTime() - before
      assert.ok(taken < limit, `${Math.round(taken)} ms`)
    })
  }
})
