import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { parseQuantity } from '@coxswain/apimachinery/quantity'
import { labelSelectorAsSelector } from '@coxswain/apimachinery/selectors'
import { isExtendedResource, isHugePages, isNativeResource, qosClassOf } from '@coxswain/strategies'
import type { Attributes } from './attributes.ts'
import { type Amounts, amountsWithOverhead, readAmounts } from './pod-amounts.ts'
import { classOfClaim } from './storage-classes.ts'

export interface QuotaScope {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** How the objects of one resource use up quotas. */
export interface QuotaEvaluator {
  handles(attributes: Attributes): boolean
  /** Whether objects of the resource use what is counted under `name`. */
  readonly counts: (name: string) => boolean
  matchesScope(scope: QuotaScope, object: JsonObject): boolean
  /** What an object must say because it is counted, in upstream's words; undefined when it says all. */
  missing(restricted: readonly string[], object: JsonObject): string | undefined
  usage(object: JsonObject): Amounts
}

const one = parseQuantity('1')
const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const specOf = (object: JsonObject): JsonObject => (isObject(object.spec) ? object.spec : {})

/** Counted by their short name too, from before anything could be counted. */
const aliases = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

export function evaluatorFor({ group, resource }: { group: string; resource: string }): QuotaEvaluator {
  if (group === '' && resource === 'pods') return pods
  if (group === '' && resource === 'services') return services
  if (group === '' && resource === 'persistentvolumeclaims') return claims
  const names = [`count/${group === '' ? resource : `${resource}.${group}`}`]
  if (group === '' && aliases.has(resource)) names.push(resource)
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: name => names.includes(name),
    matchesScope: () => false,
    missing: () => undefined,
    usage: () => new Map(names.map(name => [name, one])),
  }
}

function matchesValue(scope: QuotaScope, values: readonly string[]): boolean {
  if (scope.operator === 'Exists') return values.length > 0
  const selector = labelSelectorAsSelector({
    matchExpressions: [
      { key: scope.scopeName, operator: scope.operator, values: [...(scope.values ?? [])] },
    ] as never,
  })
  if (values.length === 0) return selector.matches({})
  return values.some(value => selector.matches({ [scope.scopeName]: value }))
}

const computed = ['cpu', 'memory', 'ephemeral-storage']
const podResources = new Set([
  'count/pods',
  'pods',
  ...computed.flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
])
/** What every container of a counted pod has to say. */
const demanded = new Set(['cpu', 'memory'].flatMap(name => [name, `requests.${name}`, `limits.${name}`]))

const isTerminating = (pod: JsonObject): boolean => Number(specOf(pod).activeDeadlineSeconds ?? -1) >= 0

const pods: QuotaEvaluator = {
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE'
    if (subresource !== '') return false
    if (operation === 'CREATE') return true
    return Boolean(object && oldObject) && isTerminating(object!) !== isTerminating(oldObject!)
  },
  counts: name =>
    podResources.has(name) ||
    isHugePages(name) ||
    name.startsWith('requests.hugepages-') ||
    (!isNativeResource(name) && name.startsWith('requests.')),
  matchesScope(scope, pod) {
    switch (scope.scopeName) {
      case 'Terminating':
        return isTerminating(pod)
      case 'NotTerminating':
        return !isTerminating(pod)
      case 'BestEffort':
        return qosClassOf(pod) === 'BestEffort'
      case 'NotBestEffort':
        return qosClassOf(pod) !== 'BestEffort'
      case 'PriorityClass': {
        const name = specOf(pod).priorityClassName as string | undefined
        return matchesValue(scope, name ? [name] : [])
      }
      case 'CrossNamespacePodAffinity':
        return usesOtherNamespaces(pod)
      default:
        return false
    }
  },
  missing(restricted, pod) {
    const spec = specOf(pod)
    if (isObject(spec.resources) && Object.keys(spec.resources).length > 0) return undefined
    const lacking = new Map<string, Set<string>>()
    for (const container of [...list(spec.containers), ...list(spec.initContainers)]) {
      const resources = isObject(container.resources) ? container.resources : {}
      const said = computeUsage(readAmounts(resources.requests), readAmounts(resources.limits))
      for (const name of restricted) {
        if (!demanded.has(name) || said.has(name)) continue
        lacking.set(name, (lacking.get(name) ?? new Set()).add(String(container.name)))
      }
    }
    if (lacking.size === 0) return undefined
    const parts = [...lacking.keys()]
      .sort()
      .map(name => `${name} for: ${[...lacking.get(name)!].sort().join(',')}`)
    return `must specify ${parts.join('; ')}`
  },
  usage(pod) {
    const usage: Amounts = new Map([['count/pods', one]])
    const { phase } = (pod.status ?? {}) as { phase?: string }
    if (phase === 'Failed' || phase === 'Succeeded') return usage
    const spec = specOf(pod)
    const amounts = computeUsage(amountsWithOverhead(spec, 'requests'), amountsWithOverhead(spec, 'limits'))
    return new Map([...usage, ...amounts])
  },
}

function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage: Amounts = new Map([['pods', one]])
  for (const name of computed) {
    const request = requests.get(name)
    if (request) usage.set(name, request).set(`requests.${name}`, request)
    const limit = limits.get(name)
    if (limit) usage.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requests) {
    if (isHugePages(name)) usage.set(name, request).set(`requests.${name}`, request)
    else if (isExtendedResource(name)) usage.set(`requests.${name}`, request)
  }
  return usage
}

function usesOtherNamespaces(pod: JsonObject): boolean {
  const { affinity } = specOf(pod)
  if (!isObject(affinity)) return false
  return ['podAffinity', 'podAntiAffinity'].some(kind => {
    const rules = isObject(affinity[kind]) ? affinity[kind] : {}
    const terms = [
      ...list(rules.requiredDuringSchedulingIgnoredDuringExecution),
      ...list(rules.preferredDuringSchedulingIgnoredDuringExecution).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ].filter(isObject)
    return terms.some(
      ({ namespaces, namespaceSelector }) =>
        (Array.isArray(namespaces) && namespaces.length > 0) || namespaceSelector !== undefined,
    )
  })
}

const services: QuotaEvaluator = {
  handles: ({ subresource }) => subresource === '',
  counts: name =>
    ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'].includes(name),
  matchesScope: () => false,
  missing: () => undefined,
  usage(service) {
    const spec = specOf(service)
    const ports = list(spec.ports)
    const isBalanced = spec.type === 'LoadBalancer'
    const counted =
      isBalanced && spec.allocateLoadBalancerNodePorts === false
        ? ports.filter(({ nodePort }) => Boolean(nodePort)).length
        : isBalanced || spec.type === 'NodePort'
          ? ports.length
          : 0
    return new Map([
      ['count/services', one],
      ['services', one],
      ['services.nodeports', parseQuantity(String(counted))],
      ['services.loadbalancers', parseQuantity(isBalanced ? '1' : '0')],
    ])
  },
}

const byClass = '.storageclass.storage.k8s.io/'
const claimResources = ['persistentvolumeclaims', 'requests.storage']

const claims: QuotaEvaluator = {
  handles({ subresource, object, oldObject }) {
    if (subresource === '') return true
    if (subresource !== 'status' || !object || !oldObject) return false
    return String(attributesClasses(object)) !== String(attributesClasses(oldObject)) || hasAllocation(object)
  },
  counts: name =>
    name === 'count/persistentvolumeclaims' ||
    claimResources.some(resource => name === resource || name.endsWith(byClass + resource)),
  matchesScope: (scope, claim) =>
    scope.scopeName === 'VolumeAttributesClass' && matchesValue(scope, attributesClasses(claim)),
  missing: () => undefined,
  usage(claim) {
    const usage: Amounts = new Map([
      ['persistentvolumeclaims', one],
      ['count/persistentvolumeclaims', one],
    ])
    const className = classOfClaim(claim)
    if (className) usage.set(`${className}${byClass}persistentvolumeclaims`, one)
    const { resources } = specOf(claim)
    const requested = readAmounts(isObject(resources) ? resources.requests : undefined).get('storage')
    if (!requested) return usage
    const status = isObject(claim.status) ? claim.status : {}
    const allocated = readAmounts(status.allocatedResources).get('storage')
    const storage = (allocated && allocated.compare(requested) > 0 ? allocated : requested).roundUp(0)
    usage.set('requests.storage', storage)
    if (className) usage.set(`${className}${byClass}requests.storage`, storage)
    return usage
  },
}

const hasAllocation = ({ status }: JsonObject): boolean =>
  isObject(status) && isObject(status.allocatedResources)

/** The volume attributes classes that a claim has, had or is to have. */
function attributesClasses(claim: JsonObject): string[] {
  const status = isObject(claim.status) ? claim.status : {}
  const modify = isObject(status.modifyVolumeStatus) ? status.modifyVolumeStatus : {}
  const names = [
    specOf(claim).volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    modify.targetVolumeAttributesClassName,
  ]
  return [...new Set(names.filter(name => typeof name === 'string' && name !== ''))] as string[]
}
