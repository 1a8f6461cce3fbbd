import type { PersistentVolumeClaim } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { Quantity } from '@coxswain/apimachinery/quantity'
import type { ServiceView } from '../endpoint-slice/service-pods.ts'
import { type Amounts, amountsOfPod, readAmounts } from '../pods/pod-resources.ts'
import { isFinished, type PodView } from '../pods/pod-state.ts'

export type ClaimView = DeepReadonly<PersistentVolumeClaim>

const one = Quantity.of(1)
const computed = ['cpu', 'memory', 'ephemeral-storage']
const podNames = new Set([
  'count/pods',
  'pods',
  ...computed.flatMap(name => [name, `requests.${name}`, `limits.${name}`]),
])

/** Whether it is Kubernetes' own, not one that a device plug-in brings. */
const isNative = (name: string) => !name.includes('/') || name.includes('kubernetes.io/')
const isHugePages = (name: string) => name.startsWith('hugepages-')

export function countsPods(name: string): boolean {
  return (
    podNames.has(name) ||
    isHugePages(name) ||
    name.startsWith('requests.hugepages-') ||
    (name.startsWith('requests.') && !isNative(name))
  )
}

/** What a pod uses up. One that is finished, or should long be gone, is only counted as an object. */
export function usageOfPod(pod: PodView, now: number): Amounts {
  const usage = new Map<string, Quantity>([['count/pods', one]])
  if (isFinished(pod) || isOverdue(pod, now)) return usage
  usage.set('pods', one)
  const requests = amountsOfPod(pod, 'requests')
  const limits = amountsOfPod(pod, 'limits')
  for (const name of computed) {
    const [request, limit] = [requests.get(name), limits.get(name)]
    if (request) usage.set(name, request).set(`requests.${name}`, request)
    if (limit) usage.set(`limits.${name}`, limit)
  }
  for (const [name, request] of requests) {
    if (isHugePages(name)) usage.set(name, request).set(`requests.${name}`, request)
    else if (!isNative(name)) usage.set(`requests.${name}`, request)
  }
  return usage
}

function isOverdue({ metadata }: PodView, now: number): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata
  if (deletionTimestamp === undefined || grace === undefined) return false
  return now > Date.parse(deletionTimestamp) + Number(grace) * 1_000
}

const serviceNames = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers'])

export function countsServices(name: string): boolean {
  return serviceNames.has(name)
}

export function usageOfService({ spec }: ServiceView): Amounts {
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

export function countsClaims(name: string): boolean {
  return (
    name === 'count/persistentvolumeclaims' ||
    claimNames.some(known => name === known || name.endsWith(byClass + known))
  )
}

export function usageOfClaim(claim: ClaimView): Amounts {
  const usage = new Map<string, Quantity>([
    ['persistentvolumeclaims', one],
    ['count/persistentvolumeclaims', one],
  ])
  const { metadata, spec, status } = claim
  const className =
    metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName
  if (className) usage.set(`${className}${byClass}persistentvolumeclaims`, one)
  const requested = readAmounts(spec?.resources?.requests).get('storage')
  if (!requested) return usage
  const allocated = readAmounts(status?.allocatedResources).get('storage')
  const storage = (allocated && allocated.compare(requested) > 0 ? allocated : requested).roundUp(0)
  usage.set('requests.storage', storage)
  if (className) usage.set(`${className}${byClass}requests.storage`, storage)
  return usage
}

/** Counted by their short name too, from before anything could be counted. */
const aliases = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'])

/** The resource that a name counts the objects of; undefined for other names. */
export function countedResource(
  name: string,
): { readonly group: string; readonly resource: string } | undefined {
  if (aliases.has(name)) return { group: '', resource: name }
  if (!name.startsWith('count/')) return undefined
  const [resource = '', ...group] = name.slice('count/'.length).split('.')
  return { group: group.join('.'), resource }
}
