import { DeviceClass, ResourceClaim, ResourceSlice } from '@coxswain/api/resource/v1'
import type { PodView } from '@coxswain/kinds'
import type { ClassView } from '../dynamic-resources/device-id.ts'
import { isDelegated } from '../dynamic-resources/extended-resources.ts'
import { allowedPodsOf, type NodeInfo } from '../node-info.ts'
import {
  type ClusterEvent,
  type Cycle,
  freesResources,
  highestScore,
  isChangeOf,
  isTaintChange,
  nodesOf,
  removedPodOf,
  type SchedulerPlugin,
  type Verdict,
} from '../plugin.ts'
import { type Amounts, computeRequests, parseAmounts } from '../resources.ts'
import { amountOf, cpuAndMemory, otherResource, type ResourceWeight } from './scored-resources.ts'

export interface NodeResourcesFitArgs {
  /** Extended resources that extenders handle. */
  readonly ignoredResources?: readonly string[]
  readonly ignoredResourceGroups?: readonly string[]
  readonly scoringStrategy?: {
    readonly type?: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio'
    readonly resources?: readonly ResourceWeight[]
    readonly requestedToCapacityRatio?: {
      readonly shape: readonly { readonly utilization: number; readonly score: number }[]
    }
  }
}

/** A node must have the requested resources; by default the least allocated node is preferred. */
export function createNodeResourcesFit(args: NodeResourcesFitArgs = {}): SchedulerPlugin {
  const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy = {} } = args
  const isIgnored = (name: string) =>
    ignoredResources.includes(name) || ignoredResourceGroups.includes(name.split('/', 1)[0]!)
  const resources = scoringStrategy.resources?.length ? scoringStrategy.resources : cpuAndMemory
  const weights = resources.map(({ name, weight }) => ({ name, weight: weight || 1 }))
  const rate = rateBy(scoringStrategy)
  return {
    name: 'NodeResourcesFit',
    kinds: [DeviceClass, ResourceClaim, ResourceSlice],
    filter: (cycle, node) => findShortage(cycle, node, isIgnored),
    score: (cycle, node) => {
      const { pod } = cycle
      let sum = 0
      let weightSum = 0
      for (let index = 0; index < weights.length; index++) {
        const { name, weight } = weights[index]!
        let capacity: number
        let used: number
        // Missing cpu and memory requests count with their defaults.
        if (name === 'cpu') {
          capacity = node.allocatable.milliCpu
          used = node.nonZero.milliCpu + pod.scored.milliCpu
        } else if (name === 'memory') {
          capacity = node.allocatable.memory
          used = node.nonZero.memory + pod.scored.memory
        } else {
          const found = otherResource(cycle, node, name)
          capacity = found?.capacity ?? 0
          used = (found?.used ?? 0) + amountOf(pod.requests, name)
        }
        if (capacity === 0) continue
        sum += rate(used, capacity) * weight
        weightSum += weight
      }
      return weightSum === 0 ? 0 : Math.trunc(sum / weightSum)
    },
    wakesOn: (event, pod) => {
      if (event.resource === 'DeviceClass') return offersDevices(event, pod)
      if (isChangeOf(event, pod, 'scaleDown') || removedPodOf(event) || isTaintChange(event)) return true
      const { requests } = computeRequests(pod)
      if (freesResources(event)) {
        const { requests: before } = computeRequests(event.old as PodView)
        return hasMore(before, computeRequests(event.object as PodView).requests, requests)
      }
      const nodes = nodesOf(event, 'allocatable')
      if (!nodes) return false
      const now = parseAmounts(nodes.node.status?.allocatable)
      const places = allowedPodsOf(nodes.node)
      if (!fits(requests, now) || places < 1) return false
      if (!nodes.old || places > allowedPodsOf(nodes.old)) return true
      return hasMore(now, parseAmounts(nodes.old.status?.allocatable), requests)
    },
  }
}

/** Whether a device class now provides a resource that the pod requests. */
function offersDevices({ action, old, object }: ClusterEvent, pod: PodView): boolean {
  if (action === 'delete') return false
  const [before, now] = [old as ClassView | undefined, object as ClassView]
  const { scalars } = computeRequests(pod).requests
  const { extendedResourceName = '' } = now.spec
  if (!before && scalars.has(`deviceclass.resource.kubernetes.io/${now.metadata.name}`)) return true
  return scalars.has(extendedResourceName) && before?.spec.extendedResourceName !== extendedResourceName
}

function findShortage(
  { pod: { requests }, handle }: Cycle,
  node: NodeInfo,
  isIgnored: (name: string) => boolean,
): Verdict | undefined {
  const reasons: string[] = []
  let isResolvable = true
  const { allocatable, requested } = node
  const check = (name: string, request: number, has: number, used: number) => {
    if (request === 0 || request <= has - used) return
    reasons.push(`Insufficient ${name}`)
    if (request > has) isResolvable = false
  }
  if (node.podCount + 1 > node.allowedPods) reasons.push('Too many pods')
  check('cpu', requests.milliCpu, allocatable.milliCpu, requested.milliCpu)
  check('memory', requests.memory, allocatable.memory, requested.memory)
  check(
    'ephemeral-storage',
    requests.ephemeralStorage,
    allocatable.ephemeralStorage,
    requested.ephemeralStorage,
  )
  for (const [name, request] of requests.scalars) {
    if (name.includes('/') && (isIgnored(name) || isDelegated(name, node, handle))) continue
    check(name, request, allocatable.scalars.get(name) ?? 0, requested.scalars.get(name) ?? 0)
  }
  if (reasons.length === 0) return undefined
  return { code: isResolvable ? 'Unschedulable' : 'UnschedulableAndUnresolvable', reasons }
}

function fits(request: Amounts, has: Amounts): boolean {
  if (request.milliCpu > has.milliCpu || request.memory > has.memory) return false
  if (request.ephemeralStorage > has.ephemeralStorage) return false
  for (const [name, amount] of request.scalars) if (amount > (has.scalars.get(name) ?? 0)) return false
  return true
}

/** Whether any requested resource has increased. */
function hasMore(one: Amounts, other: Amounts, request: Amounts): boolean {
  if (request.milliCpu > 0 && one.milliCpu > other.milliCpu) return true
  if (request.memory > 0 && one.memory > other.memory) return true
  if (request.ephemeralStorage > 0 && one.ephemeralStorage > other.ephemeralStorage) return true
  for (const [name, amount] of request.scalars)
    if (amount > 0 && (one.scalars.get(name) ?? 0) > (other.scalars.get(name) ?? 0)) return true
  return false
}

type Rate = (used: number, capacity: number) => number

function rateBy({
  type,
  requestedToCapacityRatio,
}: NonNullable<NodeResourcesFitArgs['scoringStrategy']>): Rate {
  switch (type ?? 'LeastAllocated') {
    case 'LeastAllocated':
      return (used, capacity) =>
        used > capacity ? 0 : Math.trunc(((capacity - used) * highestScore) / capacity)
    case 'MostAllocated':
      return (used, capacity) => Math.trunc((Math.min(used, capacity) * highestScore) / capacity)
    case 'RequestedToCapacityRatio': {
      const shape = requestedToCapacityRatio?.shape ?? []
      const points = shape.map(({ utilization, score }) => [utilization, score * 10] as const)
      return (used, capacity) =>
        interpolate(points, used > capacity ? 100 : Math.trunc((used * 100) / capacity))
    }
  }
}

function interpolate(points: readonly (readonly [number, number])[], at: number): number {
  for (const [index, [x, y]] of points.entries()) {
    if (at > x) continue
    if (index === 0) return y
    const [x0, y0] = points[index - 1]!
    return Math.trunc(y0 + ((y - y0) * (at - x0)) / (x - x0))
  }
  return points.at(-1)?.[1] ?? 0
}
