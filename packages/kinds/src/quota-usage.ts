import type { Container, PersistentVolumeClaim, Pod } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { Quantity } from '@coxswain/apimachinery/quantity'
import { type Amounts, readAmounts } from './amounts.ts'
import { isPodTerminal } from './pod.ts'
import { podLimits, podRequests } from './pod-resources.ts'
import { isExtendedResource, isHugePages, isNativeResource } from './resource-names.ts'
import type { ServiceView } from './service.ts'
import { storageClassNameOf } from './storage-class.ts'

const one = Quantity.of(1)
const computeResources = ['cpu', 'memory', 'ephemeral-storage']
const podNames = new Set([
  'count/pods',
  'pods',
  ...computeResources.flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
])

/** Whether a quota of this name limits Pods. */
export function limitsPods(name: string): boolean {
  return (
    podNames.has(name) ||
    isHugePages(name) ||
    name.startsWith('requests.hugepages-') ||
    (name.startsWith('requests.') && !isNativeResource(name))
  )
}

/**
 * What a Pod uses of quotas. One that is terminal counts only as an object, and with `now` also one whose grace period is
 * over.
 */
export function quotaUsageOfPod(pod: DeepReadonly<Pod>, now?: number): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([['count/pods', one]])
  if (isPodTerminal(pod) || (now !== undefined && isGracePeriodOver(pod, now))) return usage
  return new Map([...usage, ...computeUsage(podRequests(pod), podLimits(pod))])
}

/** What a container uses of quotas by itself. */
export function quotaUsageOfContainer({
  resources,
}: Pick<DeepReadonly<Container>, 'resources'>): Map<string, Quantity> {
  return computeUsage(readAmounts(resources?.requests), readAmounts(resources?.limits))
}

function computeUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map([['pods', one]])
  for (const name of computeResources) {
    const [request, limit] = [requests.get(name), limits.get(name)]
    if (request) usage.set(name, request).set(`requests.${name}`, request)
    if (limit) usage.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requests) {
    if (isHugePages(name)) usage.set(name, request).set(`requests.${name}`, request)
    else if (isExtendedResource(name)) usage.set(`requests.${name}`, request)
  }
  return usage
}

function isGracePeriodOver({ metadata }: DeepReadonly<Pod>, now: number): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata
  if (deletionTimestamp === undefined || grace === undefined) return false
  return now > Date.parse(deletionTimestamp) + Number(grace) * 1_000
}

const serviceNames = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers'])

/** Whether a quota of this name limits Services. */
export function limitsServices(name: string): boolean {
  return serviceNames.has(name)
}

/** What a Service uses of quotas. */
export function quotaUsageOfService({ spec }: Pick<ServiceView, 'spec'>): Map<string, Quantity> {
  const ports = spec?.ports ?? []
  const isBalanced = spec?.type === 'LoadBalancer'
  const allocates = isBalanced ? spec.allocateLoadBalancerNodePorts !== false : spec?.type === 'NodePort'
  const nodePorts = allocates
    ? ports.length
    : isBalanced
      ? ports.filter(({ nodePort }) => Boolean(nodePort)).length
      : 0
  return new Map([
    ['count/services', one],
    ['services', one],
    ['services.nodeports', Quantity.of(nodePorts)],
    ['services.loadbalancers', Quantity.of(isBalanced ? 1 : 0)],
  ])
}

const byClass = '.storageclass.storage.k8s.io/'
const claimNames = ['persistentvolumeclaims', 'requests.storage']

/** Whether a quota of this name limits PersistentVolumeClaims, perhaps only those of one StorageClass. */
export function limitsClaims(name: string): boolean {
  return (
    name === 'count/persistentvolumeclaims' ||
    claimNames.some(known => name === known || name.endsWith(byClass + known))
  )
}

/** What a PersistentVolumeClaim uses of quotas. */
export function quotaUsageOfClaim(claim: DeepReadonly<PersistentVolumeClaim>): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([
    ['persistentvolumeclaims', one],
    ['count/persistentvolumeclaims', one],
  ])
  const className = storageClassNameOf(claim)
  if (className) usage.set(`${className}${byClass}persistentvolumeclaims`, one)
  const requested = readAmounts(claim.spec?.resources?.requests).get('storage')
  if (!requested) return usage
  const allocated = readAmounts(claim.status?.allocatedResources).get('storage')
  const storage = (allocated && allocated.compare(requested) > 0 ? allocated : requested).roundUp(0)
  usage.set('requests.storage', storage)
  if (className) usage.set(`${className}${byClass}requests.storage`, storage)
  return usage
}

/** Resources that quotas also count by their plain name, from before `count/` was introduced. */
export const plainCountedResources: ReadonlySet<string> = new Set([
  'configmaps',
  'resourcequotas',
  'replicationcontrollers',
  'secrets',
])
