import { Deployment } from '@coxswain/api/apps/v1'
import { createFieldManager } from '@coxswain/apimachinery/apply'
import { deepClone } from '@coxswain/apimachinery/json'
import type { BenchCase } from '../harness.ts'
import { typicalDeployment } from './deployment.ts'

type Json = Record<string, unknown>

const calls = 2_000

function time(call: () => unknown): number {
  let kept: unknown
  const start = performance.now()
  for (let i = 0; i < calls; i++) kept = call()
  const spent = performance.now() - start
  if (kept === time) throw new Error('unreachable: keeps the result alive')
  return (spent * 1_000) / calls
}

/** Server-side apply and the tracking of other writes, beside JSON.parse of the same Deployment. */
export function applyCases(): BenchCase[] {
  const fields = createFieldManager({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    schema: Deployment.schema(),
    resetFields: subresource => (subresource === 'status' ? { only: ['status'] } : { reset: ['status'] }),
    now: () => '2026-01-01T00:00:00Z',
  })
  const config = deepClone(typicalDeployment()) as unknown as Json
  const metadata = config.metadata as Json
  for (const key of ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields'])
    delete metadata[key]
  delete config.status
  const text = JSON.stringify(config)
  const applied = fields.apply({ live: undefined, patch: config, manager: 'me' })
  const live = { ...applied, metadata: { ...(applied.metadata as Json), uid: 'u' } }
  const withImage = changed(config, spec => {
    const [first] = (spec.template as { spec: { containers: Json[] } }).spec.containers
    first!.image = 'example.com/other:2'
  })
  const withoutReplicas = changed(config, spec => {
    delete spec.replicas
  })
  const next = changed(live, spec => {
    spec.replicas = 7
  })
  const beside = (name: string, atMost: number, call: () => unknown): BenchCase => ({
    name,
    unit: 'µs',
    measure: () => time(call),
    reference: { name: 'JSON.parse', measure: () => time(() => JSON.parse(text)) },
    goal: { of: 'ratio', atMost },
  })
  return [
    beside('apply a Deployment, first time', 15, () =>
      fields.apply({ live: undefined, patch: config, manager: 'me' }),
    ),
    beside('apply it again, nothing new', 15, () => fields.apply({ live, patch: config, manager: 'me' })),
    beside('apply it with another image', 15, () => fields.apply({ live, patch: withImage, manager: 'me' })),
    beside('apply it without one field', 15, () =>
      fields.apply({ live, patch: withoutReplicas, manager: 'me' }),
    ),
    beside('track an update of one field', 15, () => fields.update({ live, next, manager: 'other' })),
    beside('track an update that changes nothing', 15, () =>
      fields.update({ live, next: live, manager: 'other' }),
    ),
  ]
}

function changed(object: Json, change: (spec: Json) => void): Json {
  const copy = deepClone(object)
  change(copy.spec as Json)
  return copy
}
