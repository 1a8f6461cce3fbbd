import { type NodeView, nodeReadyCondition } from '@coxswain/kinds'

/** Zones up to this size are left alone when most of their nodes are not ready; larger ones are emptied slowly. */
const largeZone = 50
const unhealthyZoneThreshold = 0.55
const slowdown = 10
const exclusionLabel = 'node.kubernetes.io/exclude-disruption'

/** How fast pods may be driven out of a zone's nodes: so many times the usual time lies between two of them. */
export interface ZoneState {
  readonly slowness: number
}

export function zoneOf({ metadata: { labels = {} } }: NodeView): string {
  const { 'topology.kubernetes.io/region': region = '', 'topology.kubernetes.io/zone': zone = '' } = labels
  return region === '' && zone === '' ? '' : `${region}:${zone}`
}

/**
 * What is the matter with each zone; undefined when no node at all is ready: then it is us who cannot see them, and nobody is
 * driven out.
 */
export function judgeZones(nodes: readonly NodeView[]): ReadonlyMap<string, ZoneState> | undefined {
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
