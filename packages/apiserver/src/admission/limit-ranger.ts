import type { PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Quantity } from '@coxswain/apimachinery/quantity'
import { newForbidden } from '@coxswain/apimachinery/status'
import { type Amounts, podLimits, podRequests, type ResourceList, readAmounts } from '@coxswain/kinds'
import type { AdmissionPlugin } from './admission.ts'
import type { Attributes } from './attributes.ts'

interface Limit {
  readonly type: string
  readonly min?: ResourceList
  readonly max?: ResourceList
  readonly default?: ResourceList
  readonly defaultRequest?: ResourceList
  readonly maxLimitRequestRatio?: ResourceList
}

const prefix = '/core/limitranges/'
const annotation = 'kubernetes.io/limit-ranger'
const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Sets default requests and limits from the namespace's LimitRanges, and rejects values out of range. */
export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  needs: 'limitranges',
  mutate(attributes) {
    if (!isPod(attributes)) return
    for (const limits of applicableLimits(attributes)) applyDefaults(attributes.object!, limits)
  },
  validate(attributes) {
    const { object, resource, name } = attributes
    for (const limits of applicableLimits(attributes)) {
      const problems = isPod(attributes) ? checkPod(object!, limits) : checkClaim(object!, limits)
      if (problems.length > 0) throw newForbidden(resource.info, name, field.aggregateMessages(problems))
    }
  },
}

const isPod = ({ resource }: Attributes): boolean =>
  resource.info.group === '' && resource.info.resource === 'pods'

/** Limits apply to new Pods, resized Pods, and claims. */
function isLimited({ resource, subresource, operation, object, oldObject }: Attributes): boolean {
  const { group, resource: name } = resource.info
  if (group !== '' || !object || operation === 'DELETE') return false
  if ((oldObject?.metadata as JsonObject | undefined)?.deletionTimestamp !== undefined) return false
  if (name === 'pods' && operation === 'UPDATE') return subresource === 'resize'
  return subresource === '' && (name === 'pods' || name === 'persistentvolumeclaims')
}

function applicableLimits(attributes: Attributes): Limit[][] {
  if (!isLimited(attributes)) return []
  return attributes.server.cache
    .resource(prefix)
    .list(`${prefix}${attributes.namespace}/`)
    .map(stored => list((stored.peek().spec as JsonObject | undefined)?.limits) as unknown as Limit[])
}

function applyDefaults(pod: JsonObject, limits: readonly Limit[]): void {
  const own = limits.filter(({ type }) => type === 'Container')
  const requests = Object.assign({}, ...own.map(limit => limit.defaultRequest)) as JsonObject
  const maxima = Object.assign({}, ...own.map(limit => limit.default)) as JsonObject
  const spec = childObject(pod, 'spec')
  const notes: string[] = []
  for (const [member, title] of [
    ['containers', 'container'],
    ['initContainers', 'init container'],
  ] as const) {
    for (const container of list(spec[member])) {
      const limitsSet = complete(container, 'limits', maxima)
      const requestsSet = complete(container, 'requests', requests)
      if (requestsSet.length > 0)
        notes.push(`${requestsSet.join(', ')} request for ${title} ${container.name}`)
      if (limitsSet.length > 0) notes.push(`${limitsSet.join(', ')} limit for ${title} ${container.name}`)
    }
  }
  if (notes.length === 0) return
  const metadata = pod.metadata as JsonObject
  childObject(metadata, 'annotations')[annotation] = `LimitRanger plugin set: ${notes.join('; ')}`
}

/** Sets the defaults that a container lacks; returns the names of the resources that were set. */
function complete(container: JsonObject, member: 'limits' | 'requests', defaults: JsonObject): string[] {
  const resources = childObject(container, 'resources')
  const present = isObject(resources[member]) ? resources[member] : {}
  const missing = Object.keys(defaults).filter(name => present[name] === undefined)
  if (missing.length === 0) return []
  const amounts = { ...present }
  for (const name of missing) amounts[name] = defaults[name]
  resources[member] = amounts
  return missing.sort()
}

interface Usage {
  readonly requests: Amounts
  readonly limits: Amounts
}

function checkPod(pod: JsonObject, limits: readonly Limit[]): string[] {
  const { spec } = pod as unknown as Pod
  return limits.flatMap(limit => {
    if (limit.type === 'Pod') {
      const options = { excludeOverhead: true }
      return checkUsage(limit, {
        requests: podRequests({ spec }, options),
        limits: podLimits({ spec }, options),
      })
    }
    if (limit.type !== 'Container') return []
    return [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      checkUsage(limit, {
        requests: readAmounts(resources?.requests),
        limits: readAmounts(resources?.limits),
      }),
    )
  })
}

function checkUsage(limit: Limit, { requests, limits }: Usage): string[] {
  const problems: (string | undefined)[] = []
  const { type } = limit
  for (const [name, bound] of readAmounts(limit.min))
    problems.push(checkMinimum(type, name, bound, requests.get(name), limits.get(name)))
  for (const [name, bound] of readAmounts(limit.max))
    problems.push(checkMaximum(type, name, bound, requests.get(name), limits.get(name)))
  for (const [name, bound] of readAmounts(limit.maxLimitRequestRatio))
    problems.push(checkRatio(type, name, bound, requests.get(name), limits.get(name)))
  return problems.filter(problem => problem !== undefined)
}

/** Only the requests of a claim are limited. */
function checkClaim(claim: JsonObject, limits: readonly Limit[]): string[] {
  const { spec } = claim as unknown as PersistentVolumeClaim
  const requests = readAmounts(spec?.resources?.requests)
  const problems: (string | undefined)[] = []
  for (const limit of limits.filter(({ type }) => type === 'PersistentVolumeClaim')) {
    for (const [name, bound] of readAmounts(limit.min))
      problems.push(checkMinimum(limit.type, name, bound, requests.get(name), undefined))
    for (const [name, bound] of readAmounts(limit.max)) {
      const request = requests.get(name)
      const rule = `maximum ${name} usage per ${limit.type} is ${bound}`
      if (!request) problems.push(`${rule}.  No request is specified`)
      else if (request.compare(bound) > 0) problems.push(`${rule}, but request is ${request}`)
    }
  }
  return problems.filter(problem => problem !== undefined)
}

function checkMinimum(
  ...[type, name, bound, request, limit]: [
    string,
    string,
    Quantity,
    Quantity | undefined,
    Quantity | undefined,
  ]
): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${bound}`
  if (!request) return `${rule}.  No request is specified`
  if (request.compare(bound) < 0) return `${rule}, but request is ${request}`
  return limit && limit.compare(bound) < 0 ? `${rule}, but limit is ${limit}` : undefined
}

function checkMaximum(
  ...[type, name, bound, request, limit]: [
    string,
    string,
    Quantity,
    Quantity | undefined,
    Quantity | undefined,
  ]
): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${bound}`
  if (!limit) return `${rule}.  No limit is specified`
  if (limit.compare(bound) > 0) return `${rule}, but limit is ${limit}`
  return request && request.compare(bound) > 0 ? `${rule}, but request is ${request}` : undefined
}

function checkRatio(
  ...[type, name, bound, request, limit]: [
    string,
    string,
    Quantity,
    Quantity | undefined,
    Quantity | undefined,
  ]
): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${bound}`
  if (!request || request.isZero) return `${rule}, but no request is specified or request is 0`
  if (!limit || limit.isZero) return `${rule}, but no limit is specified or limit is 0`
  const ratio = limit.toNumber() / request.toNumber()
  return ratio > bound.toNumber() ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}
