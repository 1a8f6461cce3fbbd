import type { NodeInfo } from '../node-info.ts'
import {
  highestScore,
  isChangeOf,
  isRoomMade,
  nodesOf,
  type SchedulerPlugin,
  type Verdict,
} from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'
import { type Amounts, computeRequests, parseAmounts } from '../resources.ts'

export interface ResourceWeight {
  readonly name: string
  readonly weight: number
}

export interface NodeResourcesFitArgs {
  /** Extended resources that somebody else looks after. */
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

export const cpuAndMemory: readonly ResourceWeight[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
]

/** A node has to have what the pod asks for; by default the emptier node is the better one. */
export function createNodeResourcesFit(args: NodeResourcesFitArgs = {}): SchedulerPlugin {
  const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy = {} } = args
  const isIgnored = (name: string) =>
    ignoredResources.includes(name) || ignoredResourceGroups.includes(name.split('/', 1)[0]!)
  const weights = scoringStrategy.resources?.length ? scoringStrategy.resources : cpuAndMemory
  const rate = rateBy(scoringStrategy)
  return {
    name: 'NodeResourcesFit',
    filter: ({ pod }, node) => findShortage(pod, node, isIgnored),
    score: ({ pod }, node) => {
      let sum = 0
      let weightSum = 0
      for (const { name, weight } of weights) {
        const capacity = amountOf(node.allocatable, name)
        if (capacity === 0) continue
        sum += rate(usedWith(pod, node, name), capacity) * weight
        weightSum += weight
      }
      return weightSum === 0 ? 0 : Math.trunc(sum / weightSum)
    },
    wakesOn: (event, pod) => {
      const nodes = nodesOf(event)
      if (!nodes) return isRoomMade(event) || isChangeOf(event, pod)
      if (!nodes.node) return false
      const { requests } = computeRequests(pod)
      const now = parseAmounts(nodes.node.status?.allocatable)
      if (!fits(requests, now)) return false
      return (
        !nodes.old ||
        hasMore(now, parseAmounts(nodes.old.status?.allocatable)) ||
        nodes.node.status?.allocatable?.pods !== nodes.old.status?.allocatable?.pods
      )
    },
  }
}

function findShortage(
  { requests }: PodInfo,
  node: NodeInfo,
  isIgnored: (name: string) => boolean,
): Verdict | undefined {
  const reasons: string[] = []
  let isResolvable = true
  const { allocatable, requested } = node
  const check = (name: string, wanted: number, has: number, used: number) => {
    if (wanted === 0 || wanted <= has - used) return
    reasons.push(`Insufficient ${name}`)
    if (wanted > has) isResolvable = false
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
  for (const [name, wanted] of requests.scalars) {
    if (name.includes('/') && isIgnored(name)) continue
    check(name, wanted, allocatable.scalars.get(name) ?? 0, requested.scalars.get(name) ?? 0)
  }
  if (reasons.length === 0) return undefined
  return { code: isResolvable ? 'Unschedulable' : 'UnschedulableAndUnresolvable', reasons }
}

function fits(wanted: Amounts, has: Amounts): boolean {
  if (wanted.milliCpu > has.milliCpu || wanted.memory > has.memory) return false
  if (wanted.ephemeralStorage > has.ephemeralStorage) return false
  for (const [name, amount] of wanted.scalars) if (amount > (has.scalars.get(name) ?? 0)) return false
  return true
}

function hasMore(now: Amounts, before: Amounts): boolean {
  if (now.milliCpu > before.milliCpu || now.memory > before.memory) return true
  if (now.ephemeralStorage > before.ephemeralStorage) return true
  for (const [name, amount] of now.scalars) if (amount > (before.scalars.get(name) ?? 0)) return true
  return false
}

export function amountOf(amounts: Readonly<Amounts>, name: string): number {
  if (name === 'cpu') return amounts.milliCpu
  if (name === 'memory') return amounts.memory
  if (name === 'ephemeral-storage') return amounts.ephemeralStorage
  return amounts.scalars.get(name) ?? 0
}

/** What would be used of a resource with the pod on the node; unsaid cpu and memory count with what is usual. */
function usedWith(pod: PodInfo, node: NodeInfo, name: string): number {
  if (name === 'cpu') return node.nonZero.milliCpu + pod.nonZero.milliCpu
  if (name === 'memory') return node.nonZero.memory + pod.nonZero.memory
  return amountOf(node.requested, name) + amountOf(pod.requests, name)
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
