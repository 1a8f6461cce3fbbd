import assert from 'node:assert/strict'
import { cpuUsage } from 'node:process'
import { describe, it } from 'node:test'
import { deepClone, field } from '@coxswain/apimachinery'
import type { JsonObject } from '../../json.ts'
import type { StrategyContext } from '../../registry/strategy.ts'
import { Warnings } from '../../request/warnings.ts'
import { podStrategy } from './pod.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const key = (index: number) => `k${index}`
const inContainer = (members: JsonObject): JsonObject => ({
  containers: [{ name: 'main', image: 'nginx', ...members }],
})
const inVolume = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] })
const claims = (count: number) => many(count, i => ({ name: key(i), resourceClaimName: 'x' }))
const spread = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }

/** Specifications of Pods with one long list each, on which some check used to compare every item with every other. */
const lists: Readonly<Record<string, (count: number) => JsonObject>> = {
  tolerations: n => ({ tolerations: many(n, i => ({ key: key(i), operator: 'Exists' })) }),
  'topology spread constraints': n => ({
    topologySpreadConstraints: many(n, i => ({ ...spread, topologyKey: key(i) })),
  }),
  'equal topology spread constraints': n => ({
    topologySpreadConstraints: many(n, () => ({ ...spread, topologyKey: 'a' })),
  }),
  'label keys of an affinity': n => ({
    affinity: {
      podAffinity: {
        [required]: [
          {
            topologyKey: 'a',
            labelSelector: { matchExpressions: many(n, i => ({ key: key(i), operator: 'Exists' })) },
            matchLabelKeys: many(n, i => `m${i}`),
            mismatchLabelKeys: many(n, i => `n${i}`),
          },
        ],
      },
    },
  }),
  'claims of a container': n => ({
    resourceClaims: claims(n),
    ...inContainer({
      resources: {
        claims: [...many(n, i => ({ name: key(i), request: 'r' })), ...many(n, i => ({ name: key(i) }))],
      },
    }),
  }),
  'claims that are not there': n => ({
    resourceClaims: claims(n),
    ...inContainer({ resources: { claims: many(n, i => ({ name: `z${i}` })) } }),
  }),
  'equal ports': n => inContainer({ ports: many(n, () => ({ containerPort: 80 })) }),
  'ports with other ports of the host': n =>
    inContainer({ ports: many(n, i => ({ containerPort: 80, hostPort: i + 1 })) }),
  'ports with other addresses of the host': n =>
    inContainer({
      ports: many(n, i => ({ containerPort: 80, hostPort: 80, hostIP: `10.0.${i >> 8}.${i & 255}` })),
    }),
  'variables from files': n => ({
    volumes: many(n, i => ({ name: key(i), emptyDir: {} })),
    ...inContainer({
      env: many(n, i => ({
        name: key(i),
        valueFrom: { fileKeyRef: { volumeName: key(i), path: 'p', key: 'K' } },
      })),
    }),
  }),
  'files of one path': n =>
    inVolume({ configMap: { name: 'c', items: many(n, () => ({ key: 'k', path: 'p' })) } }),
  'files of different paths': n =>
    inVolume({ configMap: { name: 'c', items: many(n, i => ({ key: 'k', path: `p${i}` })) } }),
  'files below a deep directory': n =>
    inVolume({
      configMap: {
        name: 'c',
        items: [
          { key: 'k', path: 'a/'.repeat(n) },
          ...many(n, i => ({ key: 'k', path: i % 2 ? 'a' : `z${i}` })),
        ],
      },
    }),
  'projected files from many sources': n =>
    inVolume({
      projected: {
        sources: many(n, i => ({ configMap: { name: `c${i}`, items: [{ key: 'k', path: `p${i % 10}` }] } })),
      },
    }),
  containers: n => ({ containers: many(n, i => ({ name: key(i), image: 'nginx' })) }),
  'tolerations that are wrong': n => ({ tolerations: many(n, () => ({ operator: 'x', effect: 'y' })) }),
}

/** What an answer says of a new Pod, and of a Pod that changes. */
function judge(spec: JsonObject): void {
  const pod: JsonObject = { metadata: { name: 'p', namespace: 'n' }, spec, status: {} }
  const context = {} as StrategyContext
  podStrategy.default!(pod)
  new field.ErrorList(podStrategy.validate!(pod, context, undefined))
  new Warnings().pushAll(podStrategy.warnings!(pod, undefined))
  const next = deepClone(pod) as JsonObject
  new field.ErrorList(podStrategy.validateUpdate!(next, pod, context))
}

describe('judging a Pod', () => {
  for (const [name, make] of Object.entries(lists)) {
    it(`takes no longer than its list of ${name} is long`, () => {
      const spec = make(12_000)
      const before = cpuUsage()
      judge(spec)
      const { user } = cpuUsage(before)
      // Linear checks take a tenth of this; quadratic ones several times as much, or all memory there is.
      assert.ok(user < 2_000_000, `${Math.round(user / 1000)} ms`)
    })
  }
})
