import type { Container, PodSpec, PodStatus } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import { Quantity } from '@coxswain/apimachinery/quantity'
import { type Amounts, addAmounts, addTo, type ResourceList, raiseTo, readAmounts } from './amounts.ts'
import { findContainerStatus, isSidecar, podCondition } from './pod.ts'
import { isPodLevelResource } from './resource-names.ts'

type SpecView = Pick<DeepReadonly<PodSpec>, 'containers' | 'initContainers' | 'resources' | 'overhead'>
type ContainerView = DeepReadonly<Container>

interface WithResources {
  readonly spec: SpecView
  readonly status?: DeepReadonly<PodStatus> | undefined
}

/** What counts towards the requests or limits of a Pod. */
export interface PodResourcesOptions {
  /** Without the overhead of its runtime class. @default false */
  readonly excludeOverhead?: boolean
  /** Only those of its containers, not those of the Pod as a whole. @default false */
  readonly excludePodLevel?: boolean
  /**
   * While a resize is in progress, the largest of desired, allocated and actual resources; needs `status`. Only for requests.
   * @default false
   */
  readonly useStatus?: boolean
  /** What a container counts for that does not set a resource. @default nothing */
  readonly missing?: Amounts
}

/**
 * What a Pod requests: the sum of its containers and sidecars, or what its init containers need at one time if that is more;
 * requests of the Pod as a whole take precedence; then its overhead.
 */
export function podRequests(pod: WithResources, options: PodResourcesOptions = {}): Map<string, Quantity> {
  const { excludeOverhead, excludePodLevel, useStatus, missing } = options
  const total = aggregate(pod.spec, (container, role) => {
    const isResizable = useStatus && pod.status && role === 'long-running'
    const own = isResizable ? effectiveRequests(pod, container) : readAmounts(container.resources?.requests)
    for (const [name, amount] of missing ?? []) if (!own.has(name)) own.set(name, amount)
    return own
  })
  if (!excludePodLevel)
    for (const [name, amount] of podLevelRequests(pod, useStatus === true)) total.set(name, amount)
  if (!excludeOverhead) addTo(total, readAmounts(pod.spec.overhead))
  return total
}

/** What a Pod is limited to, computed like `podRequests`. Overhead counts only for resources that have a limit. */
export function podLimits(
  { spec }: Pick<WithResources, 'spec'>,
  { excludeOverhead, excludePodLevel }: Pick<PodResourcesOptions, 'excludeOverhead' | 'excludePodLevel'> = {},
): Map<string, Quantity> {
  const total = containerLimits(spec)
  if (!excludePodLevel)
    for (const [name, amount] of readAmounts(spec.resources?.limits))
      if (isPodLevelResource(name)) total.set(name, amount)
  if (excludeOverhead) return total
  for (const [name, amount] of readAmounts(spec.overhead)) {
    const limit = total.get(name)
    if (limit) total.set(name, limit.add(amount))
  }
  return total
}

/** What the containers of a Pod request together. */
export function containerRequests(spec: SpecView): Map<string, Quantity> {
  return aggregate(spec, ({ resources }) => readAmounts(resources?.requests))
}

/** What the containers of a Pod are limited to together. */
export function containerLimits(spec: SpecView): Map<string, Quantity> {
  return aggregate(spec, ({ resources }) => readAmounts(resources?.limits))
}

/** Init containers other than sidecars are starting: they cannot be resized. */
type AmountsOf = (container: ContainerView, role: 'long-running' | 'starting') => Map<string, Quantity>

/** All that run at one time, or the init container that needs most beside the sidecars started before it. */
function aggregate({ containers, initContainers }: SpecView, amountsOf: AmountsOf): Map<string, Quantity> {
  const total = new Map<string, Quantity>()
  // Defaulting runs before validation, which requires containers.
  for (const container of containers ?? []) addTo(total, amountsOf(container, 'long-running'))
  if (!initContainers?.length) return total
  const sidecars = new Map<string, Quantity>()
  const starting = new Map<string, Quantity>()
  for (const container of initContainers) {
    if (isSidecar(container)) {
      const own = amountsOf(container, 'long-running')
      addTo(total, own)
      addTo(sidecars, own)
      raiseTo(starting, sidecars)
    } else raiseTo(starting, addAmounts(amountsOf(container, 'starting'), sidecars))
  }
  raiseTo(total, starting)
  return total
}

interface ResizeState {
  readonly allocatedResources?: ResourceList
  readonly resources?: { readonly requests?: ResourceList }
}

function effectiveRequests(pod: WithResources, container: ContainerView): Map<string, Quantity> {
  const desired = readAmounts(container.resources?.requests)
  const status = findContainerStatus(pod, container.name)
  return status?.resources ? largest(desired, status, isResizeInfeasible(pod)) : desired
}

function podLevelRequests(pod: WithResources, useStatus: boolean): Amounts {
  const { resources } = pod.spec
  if (!resources?.requests) return new Map()
  const desired = readAmounts(resources.requests)
  for (const name of desired.keys()) if (!isPodLevelResource(name)) desired.delete(name)
  if (!useStatus || !pod.status?.resources || desired.size === 0) return desired
  const effective = largest(desired, pod.status, isResizeInfeasible(pod))
  for (const name of effective.keys()) if (!desired.has(name)) effective.delete(name)
  return effective
}

/** The largest of what was asked for, what was allocated and what is in use. A resize that is infeasible does not count. */
function largest(
  desired: Amounts,
  { allocatedResources, resources }: ResizeState,
  isInfeasible: boolean,
): Map<string, Quantity> {
  const most = new Map<string, Quantity>()
  for (const [name, amount] of desired) most.set(name, isInfeasible ? Quantity.zero : amount)
  raiseTo(most, readAmounts(resources?.requests))
  raiseTo(most, readAmounts(allocatedResources))
  return most
}

function isResizeInfeasible({ status }: WithResources): boolean {
  return podCondition({ status }, 'PodResizePending')?.reason === 'Infeasible'
}
