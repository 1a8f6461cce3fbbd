import type { PersistentVolumeClaim, Pod, Service } from '@coxswain/api/core/v1'
import type { JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import {
  type Amounts,
  hasActiveDeadline,
  isClaimInQuotaScope,
  isPodInQuotaScope,
  limitsClaims,
  limitsPods,
  limitsServices,
  plainCountedResources,
  type QuotaScope,
  quotaUsageOfClaim,
  quotaUsageOfContainer,
  quotaUsageOfPod,
  quotaUsageOfService,
  volumeAttributesClassesOf,
} from '@coxswain/kinds'
import type { Attributes } from './attributes.ts'

/** How objects of one resource are counted against quotas. */
export interface QuotaEvaluator {
  handles(attributes: Attributes): boolean
  /** Whether objects of the resource use the quota resource `name`. */
  readonly counts: (name: string) => boolean
  matchesScope(scope: QuotaScope, object: JsonObject): boolean
  /** What an object must specify because it is counted, in upstream's words; undefined when it specifies everything. */
  missing(restricted: readonly string[], object: JsonObject): string | undefined
  usage(object: JsonObject): Amounts
}

const one = parseQuantity('1')
/** Decoding has checked the types of all fields. */
const podOf = (object: JsonObject): Pod => object as unknown as Pod
const claimOf = (object: JsonObject): PersistentVolumeClaim => object as unknown as PersistentVolumeClaim

export function evaluatorFor({ group, resource }: { group: string; resource: string }): QuotaEvaluator {
  if (group === '' && resource === 'pods') return pods
  if (group === '' && resource === 'services') return services
  if (group === '' && resource === 'persistentvolumeclaims') return claims
  const names = [`count/${group === '' ? resource : `${resource}.${group}`}`]
  if (group === '' && plainCountedResources.has(resource)) names.push(resource)
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: name => names.includes(name),
    matchesScope: () => false,
    missing: () => undefined,
    usage: () => new Map(names.map(name => [name, one])),
  }
}

/** What every container of a counted Pod must specify. */
const demanded = new Set(['cpu', 'memory'].flatMap(name => [name, `requests.${name}`, `limits.${name}`]))

const pods: QuotaEvaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE'
    if (subresource !== '') return false
    if (operation === 'CREATE') return true
    return (
      Boolean(object && oldObject) &&
      hasActiveDeadline(podOf(object!)) !== hasActiveDeadline(podOf(oldObject!))
    )
  },
  counts: limitsPods,
  matchesScope: (scope, pod) => isPodInQuotaScope(podOf(pod), scope),
  missing(restricted, pod) {
    const { spec } = podOf(pod)
    if (Object.keys(spec.resources ?? {}).length > 0) return undefined
    const lacking = new Map<string, Set<string>>()
    for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
      const said = quotaUsageOfContainer(container)
      for (const name of restricted) {
        if (!demanded.has(name) || said.has(name)) continue
        lacking.set(name, (lacking.get(name) ?? new Set()).add(container.name))
      }
    }
    if (lacking.size === 0) return undefined
    const parts = [...lacking.keys()]
      .sort()
      .map(name => `${name} for: ${[...lacking.get(name)!].sort().join(',')}`)
    return `must specify ${parts.join('; ')}`
  },
  usage: pod => quotaUsageOfPod(podOf(pod)),
}

const services: QuotaEvaluator = {
  handles: ({ subresource }) => subresource === '',
  counts: limitsServices,
  matchesScope: () => false,
  missing: () => undefined,
  usage: service => quotaUsageOfService(service as unknown as Service),
}

const claims: QuotaEvaluator = {
  handles({ subresource, object, oldObject }) {
    if (subresource === '') return true
    if (subresource !== 'status' || !object || !oldObject) return false
    const classesOf = (claim: JsonObject) => String(volumeAttributesClassesOf(claimOf(claim)))
    return (
      classesOf(object) !== classesOf(oldObject) || claimOf(object).status?.allocatedResources !== undefined
    )
  },
  counts: limitsClaims,
  matchesScope: (scope, claim) => isClaimInQuotaScope(claimOf(claim), scope),
  missing: () => undefined,
  usage: claim => quotaUsageOfClaim(claimOf(claim)),
}
