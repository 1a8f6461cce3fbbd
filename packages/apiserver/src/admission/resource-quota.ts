import type { ResourceQuota } from '@coxswain/api/core/v1'
import { childObject, type JsonObject } from '@coxswain/apimachinery/json'
import { Quantity } from '@coxswain/apimachinery/quantity'
import { newConflict, newForbidden, optimisticLockMessage } from '@coxswain/apimachinery/status'
import { type Amounts, quotaScopesOf, readAmounts } from '@coxswain/kinds'
import { encodeStored, type StoredObject } from '../cache/stored-object.ts'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'
import { evaluatorFor, type QuotaEvaluator } from './quota-evaluators.ts'

const prefix = '/core/resourcequotas/'
const attempts = 4

/** Virtual resources, and events, which quota does not cover. */
const ignored = new Set([
  '/bindings',
  '/componentstatuses',
  '/events',
  'events.k8s.io/events',
  'authentication.k8s.io/tokenreviews',
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
])

/**
 * Rejects requests that exceed a quota of the namespace, and updates the usage in the quota's status. The quota
 * controller accounts for what is freed.
 */
export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',
  needs: 'resourcequotas',
  async validate(attributes) {
    const { group, resource } = attributes.resource.info
    if (attributes.operation === 'DELETE' || !attributes.object || attributes.namespace === '') return
    if (!attributes.resource.info.namespaced || ignored.has(`${group}/${resource}`)) return
    const evaluator = evaluatorFor(attributes.resource.info)
    if (!evaluator.handles(attributes)) return
    const charged = new Set<string>()
    for (let attempt = 0; attempt < attempts; attempt++) {
      const changes = quotasOf(attributes)
        .filter(({ name }) => !charged.has(name))
        .flatMap(quota => chargeQuota(attributes, evaluator, quota))
      if (attributes.dryRun) return
      let lost = false
      for (const change of changes) {
        if (await writeUsage(attributes, change)) charged.add(change.quota.name)
        else lost = true
      }
      if (!lost) return
    }
    throw newConflict({ group: '', resource: 'resourcequotas' }, '', optimisticLockMessage)
  },
}

interface Charge {
  readonly quota: StoredObject
  readonly used: Amounts
}

function quotasOf({ server, namespace }: Attributes): readonly StoredObject[] {
  return server.cache.resource(prefix).list(`${prefix}${namespace}/`)
}

/** The quota's new usage; undefined when the request does not affect it. Throws a 403 when the quota is exceeded. */
function chargeQuota(attributes: Attributes, evaluator: QuotaEvaluator, quota: StoredObject): Charge[] {
  const object = attributes.object!
  const { name } = quota
  const stored = quota.parse() as unknown as ResourceQuota
  const hard = readAmounts(stored.status?.hard)
  const used = readAmounts(stored.status?.used)
  const scopes = quotaScopesOf(stored)
  const matches = (candidate: JsonObject) => scopes.every(scope => evaluator.matchesScope(scope, candidate))
  const restricted = [...hard.keys()].filter(evaluator.counts).sort()
  if (restricted.length === 0 || !matches(object)) return []

  const refuse = (detail: string) => newForbidden(attributes.resource.info, attributes.name, detail)
  const missing = evaluator.missing(restricted, object)
  if (missing !== undefined) throw refuse(`failed quota: ${name}: ${missing}`)
  if (restricted.some(resource => !used.has(resource)))
    throw refuse(`status unknown for quota: ${name}, resources: ${restricted.join(',')}`)

  const usage = evaluator.usage(object)
  const negative = [...usage].filter(([, amount]) => amount.sign < 0).map(([resource]) => resource)
  if (negative.length > 0)
    throw refuse(`quota usage is negative for resource(s): ${negative.sort().join(',')}`)
  const old = attributes.oldObject
  const before: Amounts = old && matches(old) ? evaluator.usage(old) : new Map()
  const requested = new Map<string, Quantity>()
  for (const [resource, amount] of usage) {
    const delta = amount.subtract(before.get(resource) ?? Quantity.zero)
    if (hard.has(resource) && delta.sign > 0) requested.set(resource, delta)
  }
  if (requested.size === 0) return []

  const exceeded: string[] = []
  for (const [resource, amount] of requested) {
    const total = (used.get(resource) ?? Quantity.zero).add(amount)
    if (total.compare(hard.get(resource)!) > 0) exceeded.push(resource)
    used.set(resource, total)
  }
  if (exceeded.length > 0 && attributes.subresource !== 'status') {
    const print = (amounts: Amounts) =>
      exceeded
        .sort()
        .map(resource => `${resource}=${amounts.get(resource)}`)
        .join(',')
    const present = readAmounts(stored.status?.used)
    throw refuse(
      `exceeded quota: ${name}, requested: ${print(requested)}, used: ${print(present)}, limited: ${print(hard)}`,
    )
  }
  return [{ quota, used }]
}

/** False when the quota was changed in the meantime. */
async function writeUsage({ server }: Attributes, { quota, used }: Charge): Promise<boolean> {
  const object = quota.parse()
  const status = childObject(object, 'status')
  const print = ([name, amount]: [string, Quantity]): [string, string] => [name, String(amount)]
  status.used = Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)).map(print))
  const result = await server.store.transact({
    conditions: [{ key: quota.key, modRevision: quota.revision }],
    operations: [{ type: 'put', key: quota.key, value: encodeStored(object) }],
  })
  await server.cache.waitFor(result.revision)
  return result.committed
}
