import type { Container, ContainerExtendedResourceRequest } from '@coxswain/api/core/v1'
import { DeviceClass, type DeviceRequest, ResourceClaim } from '@coxswain/api/resource/v1'
import { type DeepReadonly, isControlledBy } from '@coxswain/apimachinery/meta'
import { type PodView, parseAmount } from '@coxswain/kinds'
import type { NodeInfo } from '../node-info.ts'
import type { SchedulerHandle } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import type { ClaimView, ClassView } from './device-id.ts'

const annotation = 'resource.kubernetes.io/extended-resource-claim'
const classPrefix = 'deviceclass.resource.kubernetes.io/'

/** Which device request serves which container. */
export type RequestMapping = ContainerExtendedResourceRequest

/** Device requests for extended resources: the requests of one claim for the whole pod. */
export interface ExtendedRequests {
  readonly requests: readonly DeviceRequest[]
  readonly mappings: readonly RequestMapping[]
}

function isExtendedName(name: string): boolean {
  if (name.startsWith(classPrefix)) return true
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.')
}

/** The class for an extended resource: the one whose implicit name it is, or the newest that names it. */
export function findClassOf(resource: string, handle: SchedulerHandle): ClassView | undefined {
  if (!isExtendedName(resource)) return undefined
  if (resource.startsWith(classPrefix))
    return handle.get(DeviceClass, { name: resource.slice(classPrefix.length) })
  let found: ClassView | undefined
  for (const candidate of handle.list(DeviceClass))
    if (candidate.spec.extendedResourceName === resource && !(found && isBetter(found, candidate)))
      found = candidate
  return found
}

function isBetter(one: ClassView, other: ClassView): boolean {
  const [a, b] = [one.metadata, other.metadata]
  const order = Date.parse(a.creationTimestamp) - Date.parse(b.creationTimestamp)
  return order > 0 || (order === 0 && a.name < b.name)
}

/** Whether a pod requests a resource that devices may provide. */
export function hasExtendedResources({ requests }: PodInfo, handle: SchedulerHandle): boolean {
  for (const [name, amount] of requests.scalars) if (amount > 0 && findClassOf(name, handle)) return true
  return false
}

/** Whether a node has a resource only as devices. */
export function isDelegated(resource: string, { allocatable }: NodeInfo, handle: SchedulerHandle): boolean {
  return !((allocatable.scalars.get(resource) ?? 0) > 0) && findClassOf(resource, handle) !== undefined
}

/** The claim that was created for the pod in an earlier attempt. */
export function findExtendedClaim(pod: PodView, handle: SchedulerHandle): ClaimView | undefined {
  return handle
    .list(ResourceClaim, pod.metadata.namespace ?? '')
    .find(
      ({ metadata }) => metadata.annotations?.[annotation] === 'true' && isControlledBy({ metadata }, pod),
    )
}

/** A claim that does not exist yet, without requests: they depend on the node. */
export function createExtendedClaim({ metadata }: PodView, uid: string): ClaimView {
  const { name, namespace = '', uid: owner } = metadata
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      namespace,
      name: '<extended-resources>', // not a valid claim name
      uid,
      generateName: `${name}-extended-resources-`,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid: owner, controller: true }],
      annotations: { [annotation]: 'true' },
    },
    spec: {},
    status: {},
  } as unknown as ClaimView
}

/** The pod's extended resources that a node provides as devices; a reason if it lacks one entirely. */
export function resourcesToDelegate(
  { requests }: PodInfo,
  node: NodeInfo,
  handle: SchedulerHandle,
): string[] | 'cannot fit resource' {
  const names: string[] = []
  for (const [name, amount] of requests.scalars) {
    if (amount === 0 || !isExtendedName(name)) continue
    if (isDelegated(name, node, handle)) names.push(name)
    else if (!node.allocatable.scalars.has(name)) return 'cannot fit resource'
  }
  return names.sort()
}

/**
 * Requests for these resources. Init containers reuse the devices of later containers, and share their additional ones, since
 * they run sequentially.
 */
export function createExtendedRequests(
  { spec }: PodView,
  resources: readonly string[],
  handle: SchedulerHandle,
): ExtendedRequests {
  const init = spec.initContainers ?? []
  const containers = [...init, ...spec.containers]
  const isBrief = (index: number) => index < init.length && containers[index]!.restartPolicy !== 'Always'
  const requests: DeviceRequest[] = []
  const mappings: RequestMapping[] = []
  for (const resource of resources) {
    const deviceClassName = findClassOf(resource, handle)!.metadata.name
    const lasting = containers.map((container, index) =>
      isBrief(index) ? undefined : request(container, index, { resource, deviceClassName }, []),
    )
    let largest: DeviceRequest | undefined
    const briefMappings: RequestMapping[] = []
    const briefNames = new Set<string>()
    for (const [index, container] of containers.entries()) {
      if (!isBrief(index)) continue
      const reusable = lasting.slice(index).flatMap(each => each?.own ?? [])
      const { own, mappings: found } = request(container, index, { resource, deviceClassName }, reusable)
      for (const item of found) briefMappings.push(item)
      if (!own) continue
      briefNames.add(own.name)
      if (!largest || countOf(own) > countOf(largest)) largest = own
    }
    const shared = largest?.name
    if (largest) requests.push(largest)
    for (const item of lasting.flatMap(each => each?.own ?? [])) requests.push(item)
    for (const item of lasting.flatMap(each => each?.mappings ?? [])) mappings.push(item)
    for (const item of briefMappings.map(each =>
      shared !== undefined && briefNames.has(each.requestName) ? { ...each, requestName: shared } : each,
    ))
      mappings.push(item)
  }
  return { requests: requests.sort((a, b) => (a.name < b.name ? -1 : 1)), mappings }
}

const countOf = ({ exactly }: DeviceRequest): number => exactly?.count ?? 0

/** What a container needs beyond the reusable devices. */
function request(
  { name: containerName, resources }: DeepReadonly<Container>,
  index: number,
  { resource, deviceClassName }: { readonly resource: string; readonly deviceClassName: string },
  reusable: readonly DeviceRequest[],
): { readonly own?: DeviceRequest; readonly mappings: readonly RequestMapping[] } {
  const requested = resources?.requests ?? {}
  const count = Number(parseAmount(requested[resource] ?? '0').value)
  const mappings: RequestMapping[] = []
  if (count === 0) return { mappings }
  let sum = 0
  const map = (requestName: string) => mappings.push({ containerName, resourceName: resource, requestName })
  for (const other of reusable) {
    sum += countOf(other)
    map(other.name)
    if (sum >= count) return { mappings }
  }
  const name = `container-${index}-request-${Object.keys(requested).sort().indexOf(resource)}`
  map(name)
  const exactly = { deviceClassName, allocationMode: 'ExactCount' as const, count: count - sum }
  return { own: { name, exactly }, mappings }
}
