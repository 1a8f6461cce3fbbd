import { type NodeView, nodeReadyCondition } from '@coxswain/kinds'

/** Zones up to this size are not evicted if most of their nodes are unready; larger ones are slowly. */
const largeZone = 50
const unhealthyZoneThreshold = 0.55
const slowdown = 10
const exclusionLabel = 'node.kubernetes.io/exclude-disruption'

/** The eviction rate of a zone: a factor on the time between two nodes. */
export interface ZoneState {
  readonly slowness: number
}

export function zoneOf({ metadata: { labels = {} } }: NodeView): string {
  const { 'topology.kubernetes.io/region': region = '', 'topology.kubernetes.io/zone': zone = '' } = labels
  return region === '' && zone === '' ? '' : `${region}:${zone}`
}

/**
 * The state of each zone; undefined if no node at all is ready: then the control plane may be partitioned, and nothing is
 * evicted.
 */
export function computeZoneStates(nodes: readonly NodeView[]): ReadonlyMap<string, ZoneState> | undefined {
  const counted = nodes.filter(({ metadata }) => metadata.labels?.[exclusionLabel] === undefined)
  const isReady = (node: NodeView) => nodeReadyCondition(node)?.status === 'True'
  if (counted.length > 0 && !counted.some(isReady)) return undefined
  const zones = Map.groupBy(counted, zoneOf)
  return new Map(
    [...zones].map(([zone, members]) => {
      const ready = members.filter(isReady).length
      const silent = members.length - ready
      const isPartial = ready > 0 && silent > 2 && silent / members.length >= unhealthyZoneThreshold
      if (!isPartial) return [zone, { slowness: 1 }]
      return [zone, { slowness: members.length > largeZone ? slowdown : Number.POSITIVE_INFINITY }]
    }),
  )
}
