import type { PodSpec, ResourceClaim, ResourceRequirements } from '@coxswain/api/core/v1'
import * as field from '@coxswain/apimachinery/field'
import { parseQuantity, type Quantity } from '@coxswain/apimachinery/quantity'
import { isQualifiedName } from '@coxswain/apimachinery/validation'
import {
  containerLimits,
  containerRequests,
  isExtendedResource,
  isHugePages,
  isNativeResource,
  isPodLevelResource,
} from '@coxswain/kinds'
import type { Decoded } from '../../../decoded.ts'
import { type Findings, invalidBecause, validateDNSLabel } from '../../../shared/reading.ts'

const hugePages = 'hugepages-'
const requestsPrefix = 'requests.'
const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])
const standardResources = new Set([
  ...containerResources,
  ...['requests.', 'limits.'].flatMap(prefix => [...containerResources].map(name => prefix + name)),
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
])
const counted = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])
const podLevelResources = ['cpu', hugePages, 'memory']

export const mayOvercommit = (name: string): boolean => isNativeResource(name) && !isHugePages(name)

type NameRule = (name: string, path: field.Path) => Findings

export function* validateResourceName(name: string, path: field.Path): Findings {
  const messages = isQualifiedName(name)
  if (messages.length > 0) yield* invalidBecause(path, name, messages)
  else if (!name.includes('/') && !standardResources.has(name) && !isQuotaHugePages(name))
    yield field.invalid(path, name, 'must be a standard resource type or fully qualified')
}

const isQuotaHugePages = (name: string): boolean =>
  isHugePages(name) || name.startsWith(requestsPrefix + hugePages)

export function* validateContainerResourceName(name: string, path: field.Path): Findings {
  yield* validateResourceName(name, path)
  if (!name.includes('/')) {
    if (!containerResources.has(name) && !isHugePages(name))
      yield field.invalid(path, name, 'must be a standard resource for containers')
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    yield field.invalid(path, name, "doesn't follow extended resource name standard")
  }
}

function* validatePodResourceName(name: string, path: field.Path): Findings {
  const errors = [...validateResourceName(name, path)]
  yield* errors
  if (errors.length === 0 && !isPodLevelResource(name))
    yield field.notSupported(path, name, podLevelResources)
}

/** A quantity is not negative, and an integer where objects or devices are counted. */
export function* validateResourceQuantity(name: string, amount: Quantity, path: field.Path): Findings {
  if (amount.sign < 0) yield field.invalid(path, amount.toString(), 'must be greater than or equal to 0')
  if ((counted.has(name) || isExtendedResource(name)) && amount.milliValue % 1000n !== 0n)
    yield field.invalid(path, amount.toString(), 'must be an integer')
}

function* validateHugePages(name: string, amount: Quantity, path: field.Path): Findings {
  if (!isHugePages(name)) return
  if (!isDivisible(name, amount)) {
    const message = `${amount} is not positive integer multiple of ${name}`
    yield field.invalid(path, amount.toString(), message)
  }
}

function isDivisible(name: string, amount: Quantity): boolean {
  const size = tryParse(name.slice(hugePages.length))
  if (!size || size.sign <= 0 || size.milliValue % 1000n !== 0n) return false
  return amount.value % size.value === 0n
}

function tryParse(text: string): Quantity | undefined {
  try {
    return parseQuantity(text)
  } catch {
    return undefined
  }
}

/** The decoder has validated every quantity. */
const amountOf = (text: string): Quantity => parseQuantity(text)

function* validateRequirements(
  requirements: Decoded<ResourceRequirements>,
  nameRule: NameRule,
  claims: ReadonlySet<string>,
  path: field.Path,
): Findings {
  const limits = requirements.limits ?? {}
  const requests = requirements.requests ?? {}
  const limitsPath = path.child('limits')
  const requestsPath = path.child('requests')
  for (const [name, text] of Object.entries(limits)) {
    const at = limitsPath.key(name)
    yield* nameRule(name, at)
    yield* validateResourceQuantity(name, amountOf(text), at)
    yield* validateHugePages(name, amountOf(text), at)
  }
  for (const [name, text] of Object.entries(requests)) {
    const at = requestsPath.key(name)
    const amount = amountOf(text)
    yield* nameRule(name, at)
    yield* validateResourceQuantity(name, amount, at)
    const limit = limits[name]
    if (limit !== undefined) {
      const order = amount.compare(amountOf(limit))
      if (order !== 0 && !mayOvercommit(name)) {
        yield field.invalid(requestsPath, text, `must be equal to ${name} limit of ${limit}`)
      } else if (order > 0) {
        yield field.invalid(requestsPath, text, `must be less than or equal to ${name} limit of ${limit}`)
      }
    } else if (!mayOvercommit(name)) {
      yield field.required(limitsPath, 'Limit must be set for non overcommitable resources')
    }
    yield* validateHugePages(name, amount, at)
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    yield field.forbidden(path, 'HugePages require cpu or memory')
  yield* validateClaimNames(requirements.claims ?? [], claims, path.child('claims'))
}

/** Claims of a container name claims of the pod, each whole or by request, once. */
function* validateClaimNames(
  claims: readonly Decoded<ResourceClaim>[],
  known: ReadonlySet<string>,
  path: field.Path,
): Findings {
  const seen = new Set<string>()
  /** How many requests of a claim were seen. */
  const requests = new Map<string, number>()
  for (const [index, claim] of claims.entries()) {
    const at = path.index(index)
    const name = claim.name ?? ''
    const request = claim.request ?? ''
    if (name === '') {
      yield field.required(at)
      continue
    }
    if (seen.has(name)) {
      yield field.duplicate(at, name)
    } else {
      if (request !== '') yield* validateDNSLabel(request, at.child('request'))
      const key = request === '' ? name : `${name}/${request}`
      if (seen.has(key)) yield field.duplicate(at, key)
      else if (request !== '') requests.set(name, (requests.get(name) ?? 0) + 1)
      else for (let other = requests.get(name) ?? 0; other > 0; other--) yield field.duplicate(at, name)
      seen.add(key)
    }
    if (!known.has(name)) {
      const which = () => (known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`)
      yield field.notFound(at, name, () => `must be one of the names in pod.spec.resourceClaims${which()}`)
    }
  }
}

export function* validateContainerResources(
  requirements: Decoded<ResourceRequirements>,
  claims: ReadonlySet<string>,
  path: field.Path,
): Findings {
  yield* validateRequirements(requirements, validateContainerResourceName, claims, path)
}

/** Resources of the pod as a whole, which its containers share. */
export function* validatePodResources(
  spec: Decoded<PodSpec>,
  claims: ReadonlySet<string>,
  specPath: field.Path,
): Findings {
  const { resources } = spec
  if (!resources) return
  const path = specPath.child('resources')
  if (spec.os?.name === 'windows') {
    yield field.forbidden(path, 'may not be set for a windows pod')
    return
  }
  if (resources.claims !== undefined) {
    yield field.forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level')
  }
  yield* validateRequirements(resources, validatePodResourceName, claims, path)
  yield* validateShares(spec, path)
}

function* validateShares(spec: Decoded<PodSpec>, path: field.Path): Findings {
  const requests = spec.resources?.requests ?? {}
  const limits = spec.resources?.limits ?? {}
  for (const [name, sum] of containerRequests(spec as PodSpec)) {
    const pod = requests[name]
    if (pod !== undefined && sum.compare(amountOf(pod)) > 0) {
      const message = `must be greater than or equal to aggregate container requests of ${sum}`
      yield field.invalid(path.child('requests').key(name), pod, message)
    }
  }
  for (const [name, sum] of containerLimits(spec as PodSpec)) {
    const pod = limits[name]
    if (isHugePages(name) && pod !== undefined && sum.compare(amountOf(pod)) > 0) {
      const message = `must be greater than or equal to aggregate container limits of ${sum}`
      yield field.invalid(path.child('limits').key(name), pod, message)
    }
  }
  for (const [index, container] of (spec.containers ?? []).entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const pod = limits[name]
      if (pod === undefined || amountOf(limit).compare(amountOf(pod)) <= 0) continue
      const at = path.child('containers').index(index).key(name).child('limits')
      yield field.invalid(at, limit, `must be less than or equal to pod limits of ${pod}`)
    }
  }
}
