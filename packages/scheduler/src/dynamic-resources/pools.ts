import { matchesNodeSelector, type NodeView } from '@coxswain/kinds'
import type { DeviceView, SliceView } from './device-id.ts'
import type { CounterSet, NodeSelector } from './types.ts'

/** A resource pool: the devices of one driver that are published together, as far as one node can access them. */
export interface Pool {
  /** `driver/pool`. */
  readonly id: string
  /** `incomplete`: not all slices have been observed. `invalid`: they contradict each other. */
  readonly state: 'usable' | 'incomplete' | 'invalid'
  readonly slices: readonly SliceView[]
  /** Slices for other nodes, whose devices may consume the same counters. */
  readonly otherSlices: readonly SliceView[]
  readonly counterSets: ReadonlyMap<string, CounterSet>
}

/** The node constraints of slices and devices. */
interface Reach {
  readonly nodeName?: string | undefined
  readonly allNodes?: boolean | undefined
  readonly nodeSelector?: NodeSelector | undefined
}

export function isReachable({ nodeName, allNodes, nodeSelector }: Reach, node: NodeView): boolean {
  if (nodeName) return node.metadata.name === nodeName
  if (allNodes) return true
  return nodeSelector !== undefined && matchesNodeSelector(nodeSelector, node)
}

/** All slices, indexed by node. */
export interface SliceIndex {
  readonly all: readonly SliceView[]
  /** Those that may have devices for the node. */
  of(node: string): readonly SliceView[]
}

export function indexSlices(all: readonly SliceView[]): SliceIndex {
  const shared: SliceView[] = []
  const byNode = new Map<string, SliceView[]>()
  for (const slice of all) {
    const { nodeName, sharedCounters } = slice.spec
    if (!nodeName || sharedCounters?.length) shared.push(slice)
    else byNode.set(nodeName, [...(byNode.get(nodeName) ?? []), slice])
  }
  return { all, of: node => [...(byNode.get(node) ?? []), ...shared] }
}

/** All pools with devices for a node: by driver and name, those with binding conditions last. */
export function gatherPools({ all: slices, of }: SliceIndex, node: NodeView): Pool[] {
  const found = new Map<string, SliceView[]>()
  for (const slice of of(node.metadata.name)) if (isRelevant(slice, node)) addSlice(found, slice)
  const pools: Pool[] = []
  for (const [id, members] of found) {
    const { generation, resourceSliceCount } = members[0]!.spec.pool
    let all: readonly SliceView[] = members
    if (members.length !== resourceSliceCount) {
      const inPool = slices.filter(slice => idOf(slice) === id)
      // A newer generation, still incomplete, has nothing for this node.
      if (inPool.some(({ spec }) => spec.pool.generation > generation)) continue
      all = inPool.filter(({ spec }) => spec.pool.generation === generation)
    }
    if (all.length !== resourceSliceCount)
      pools.push({ id, state: 'incomplete', slices: [], otherSlices: [], counterSets: new Map() })
    else pools.push(buildPool(id, members, all))
  }
  return pools.sort((a, b) => Number(hasConditions(a)) - Number(hasConditions(b)) || compareIds(a.id, b.id))
}

/** Driver names contain no slashes. */
function compareIds(a: string, b: string): number {
  const [left, right] = [a.indexOf('/'), b.indexOf('/')]
  return compare(a.slice(0, left), b.slice(0, right)) || compare(a.slice(left + 1), b.slice(right + 1))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function idOf({ spec }: SliceView): string {
  return `${spec.driver}/${spec.pool.name}`
}

function isRelevant({ spec }: SliceView, node: NodeView): boolean {
  if (spec.sharedCounters?.length) return true
  if (spec.nodeName || spec.allNodes || spec.nodeSelector) return isReachable(spec, node)
  return (
    spec.perDeviceNodeSelection === true && (spec.devices ?? []).some(device => isReachable(device, node))
  )
}

function addSlice(pools: Map<string, SliceView[]>, slice: SliceView): void {
  const id = idOf(slice)
  const known = pools.get(id)
  const { generation } = slice.spec.pool
  const present = known?.[0]?.spec.pool.generation ?? Number.NEGATIVE_INFINITY
  if (generation > present) pools.set(id, [slice])
  else if (generation === present) known?.push(slice)
}

function buildPool(id: string, members: readonly SliceView[], all: readonly SliceView[]): Pool {
  const sorted = [...members].sort((a, b) => compare(a.metadata.name, b.metadata.name))
  const slices = sorted.filter(({ spec }) => !spec.sharedCounters?.length)
  const otherSlices = all.filter(slice => !members.includes(slice))
  const counterSets = new Map<string, CounterSet>()
  const pool = { id, slices, otherSlices, counterSets }
  const invalid: Pool = { ...pool, state: 'invalid', slices: [], otherSlices: [] }
  for (const { spec } of sorted)
    for (const set of spec.sharedCounters ?? []) {
      if (counterSets.has(set.name)) return invalid
      counterSets.set(set.name, set)
    }
  const names = new Set<string>()
  for (const { spec } of slices)
    for (const { name } of spec.devices ?? []) {
      if (names.has(name)) return invalid
      names.add(name)
    }
  const devices = [...sorted, ...otherSlices].flatMap(({ spec }) => spec.devices ?? [])
  return devices.every(device => hasItsCounters(device, counterSets)) ? { ...pool, state: 'usable' } : invalid
}

function hasItsCounters({ consumesCounters = [] }: DeviceView, sets: Pool['counterSets']): boolean {
  return consumesCounters.every(({ counterSet, counters }) => {
    const known = sets.get(counterSet)?.counters
    return known !== undefined && Object.keys(counters).every(name => Object.hasOwn(known, name))
  })
}

function hasConditions({ slices }: Pool): boolean {
  return slices.some(({ spec }) => spec.devices?.some(device => device.bindingConditions !== undefined))
}
