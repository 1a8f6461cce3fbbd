import type { Node } from '@coxswain/api/core/v1'
import type { Endpoint } from '@coxswain/api/discovery/v1'
import { type DeepReadonly, formatKey, keyOf } from '@coxswain/apimachinery/meta'
import { parseQuantity, Quantity } from '@coxswain/apimachinery/quantity'
import { type IPFamily, isNodeReady, type ServiceView } from '@coxswain/kinds'
import type { SliceDraft, SlicePlan } from './slice-plan.ts'

/** The share of all CPUs in each zone. */
export type ZoneShares = ReadonlyMap<string, number>

export interface HintsEvent {
  readonly type: 'normal' | 'warning'
  readonly reason: 'TopologyAwareHintsEnabled' | 'TopologyAwareHintsDisabled'
  readonly message: string
}

export interface HintedPlan {
  readonly plan: SlicePlan
  readonly event?: HintsEvent
}

/** The largest overload of an endpoint, as a fraction. */
const overloadThreshold = 0.2
const zoneLabel = 'topology.kubernetes.io/zone'
const excludedLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']
const modeAnnotations = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode']

/** Whether a service requests that its endpoints are distributed among zones. */
export function wantsTopologyHints({ metadata: { annotations = {} } }: ServiceView): boolean {
  const mode = modeAnnotations.map(name => annotations[name]).find(value => value !== undefined)
  return mode === 'Auto' || mode === 'auto'
}

/** What a node contributes to the shares of zones. */
export function topologyOf({ metadata, status }: DeepReadonly<Node>): string {
  return JSON.stringify([isNodeReady({ status }), metadata.labels?.[zoneLabel]])
}

/** Undefined if nodes lack information, or are all in one zone. */
export function shareZones(nodes: readonly DeepReadonly<Node>[]): ZoneShares | undefined {
  const byZone = new Map<string, Quantity>()
  for (const { metadata, status } of nodes) {
    const { labels = {} } = metadata
    if (excludedLabels.some(label => labels[label] !== undefined) || !isNodeReady({ status })) continue
    const zone = labels[zoneLabel]
    const cpu = parseQuantity(status?.allocatable?.cpu ?? '0')
    if (!zone || cpu.isZero) return undefined
    byZone.set(zone, (byZone.get(zone) ?? Quantity.zero).add(cpu))
  }
  if (byZone.size < 2) return undefined
  const milli = [...byZone].map(([zone, cpu]) => [zone, Number(cpu.milliValue)] as const)
  const total = milli.reduce((sum, [, cpu]) => sum + cpu, 0)
  return new Map(milli.map(([zone, cpu]) => [zone, cpu / total]))
}

interface Allocation {
  readonly maximum: number
  readonly desired: number
}

/** The number of endpoints for each zone, or why they cannot be allocated. */
function allocate(shares: ZoneShares | undefined, count: number): ReadonlyMap<string, Allocation> | string {
  if (!shares)
    return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'
  const numbers = `(${count} endpoints, ${shares.size} zones)`
  if (shares.size > count) return `Insufficient number of endpoints ${numbers}`
  const wanted = [...shares].map(([zone, share]) => ({
    zone,
    desired: share * count,
    minimum: Math.ceil(share * count * (1 / (1 + overloadThreshold))),
  }))
  const spare = count - wanted.reduce((sum, { minimum }) => sum + minimum, 0)
  if (spare < 0)
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${numbers}`
  return new Map(
    wanted.map(({ zone, desired, minimum }) => [
      zone,
      { maximum: minimum + spare, desired: Math.max(desired, minimum) },
    ]),
  )
}

/** The services with hints, and their number of endpoints per zone, to be checked when nodes change. */
export class TopologyHints {
  readonly #counts = new Map<string, Map<IPFamily, ReadonlyMap<string, number>>>()
  readonly #populated = new Set<string>()

  /** Services with too few endpoints in a zone after a change of nodes. */
  overloaded(shares: ZoneShares | undefined): string[] {
    return [...this.#counts]
      .filter(([, byType]) => [...byType.values()].some(counts => isOverloaded(counts, shares)))
      .map(([key]) => key)
  }

  /** Adds zone hints to a plan, or removes them if they cannot be allocated. */
  add(service: ServiceView, type: IPFamily, plan: SlicePlan, shares: ZoneShares | undefined): HintedPlan {
    const key = formatKey(keyOf(service))
    const all = [...plan.create, ...plan.update, ...plan.unchanged]
    const ready = all.reduce((sum, { endpoints }) => sum + endpoints.filter(isReadyEndpoint).length, 0)
    const allocations = allocate(shares, ready)
    const disable = (why: string): HintedPlan => {
      this.#forget(key, type)
      const message = `${why}, addressType: ${type}`
      return {
        plan: stripHints(plan),
        event: { type: 'warning', reason: 'TopologyAwareHintsDisabled', message },
      }
    }
    if (typeof allocations === 'string') return disable(allocations)
    const { kept, counts, update } = keepHints(plan, allocations)
    const changed = [...plan.create, ...update]
    for (const draft of changed) {
      if (draft.endpoints.some(each => isReadyEndpoint(each) && !each.zone))
        return disable('One or more endpoints do not have a zone specified')
      draft.endpoints = draft.endpoints.map(each => (isReadyEndpoint(each) ? hinted(each, each.zone!) : each))
      for (const { zone } of draft.endpoints.filter(isReadyEndpoint))
        counts.set(zone!, (counts.get(zone!) ?? 0) + 1)
    }
    redistribute(changed, counts, balance(allocations, counts))
    if (counts.size === 0) return disable('No hints allocated for zones')
    const wasEnabled = this.#populated.has(key)
    const byType = this.#counts.get(key) ?? new Map<IPFamily, ReadonlyMap<string, number>>()
    this.#counts.set(key, byType.set(type, counts))
    this.#populated.add(key)
    const message = `Topology Aware Hints has been enabled, addressType: ${type}`
    return {
      plan: { ...plan, update, unchanged: kept },
      ...(!wasEnabled && {
        event: { type: 'normal', reason: 'TopologyAwareHintsEnabled', message } as const,
      }),
    }
  }

  /** For a service that does not, or no longer, request hints. */
  remove(service: ServiceView, type: IPFamily): HintsEvent | undefined {
    const key = formatKey(keyOf(service))
    const wasEnabled = this.#populated.has(key)
    this.#forget(key, type)
    if (!wasEnabled) return undefined
    const message = `Topology Aware Hints has been disabled, addressType: ${type}`
    return { type: 'warning', reason: 'TopologyAwareHintsDisabled', message }
  }

  #forget(key: string, type: IPFamily): void {
    const byType = this.#counts.get(key)
    byType?.delete(type)
    if (byType?.size === 0) this.#counts.delete(key)
    this.#populated.delete(key)
  }
}

const isReadyEndpoint = ({ conditions }: DeepReadonly<Endpoint>) => conditions?.ready === true
const hinted = (endpoint: DeepReadonly<Endpoint>, zone: string): DeepReadonly<Endpoint> => ({
  ...endpoint,
  hints: { forZones: [{ name: zone }] },
})
const withoutHints = ({ hints: _, ...endpoint }: DeepReadonly<Endpoint>): DeepReadonly<Endpoint> => endpoint

function stripHints(plan: SlicePlan): SlicePlan {
  const hasHints = ({ endpoints }: SliceDraft) => endpoints.some(({ hints }) => hints)
  for (const draft of [...plan.create, ...plan.update]) draft.endpoints = draft.endpoints.map(withoutHints)
  const stale = plan.unchanged.filter(hasHints)
  for (const draft of stale) draft.endpoints = draft.endpoints.map(withoutHints)
  return {
    ...plan,
    update: [...plan.update, ...stale],
    unchanged: plan.unchanged.filter(draft => !stale.includes(draft)),
  }
}

/** Keeps unchanged slices whose hints are still right; adds the others to the updates. */
function keepHints(plan: SlicePlan, allocations: ReadonlyMap<string, Allocation>) {
  const counts = new Map<string, number>()
  const kept: (typeof plan.unchanged)[number][] = []
  const update = [...plan.update]
  for (const draft of plan.unchanged) {
    const zones = draft.endpoints
      .filter(isReadyEndpoint)
      .map(({ hints }) => (hints?.forZones ?? []).map(({ name }) => name))
    const own = Map.groupBy(zones.flat(), zone => zone)
    const fits = [...own].every(
      ([zone, { length }]) => length + (counts.get(zone) ?? 0) <= (allocations.get(zone)?.maximum ?? -1),
    )
    if (!fits || zones.some(({ length }) => length === 0)) {
      update.push(draft)
      continue
    }
    kept.push(draft)
    for (const [zone, { length }] of own) counts.set(zone, (counts.get(zone) ?? 0) + length)
  }
  return { kept, counts, update }
}

/** Endpoints that zones have too many and too few of. */
function balance(allocations: ReadonlyMap<string, Allocation>, counts: ReadonlyMap<string, number>) {
  const surplus = new Map<string, number>()
  const lack = new Map<string, number>()
  for (const [zone, { desired }] of allocations) {
    const count = counts.get(zone) ?? 0
    if (count > desired) surplus.set(zone, count - desired)
    else if (count < desired) lack.set(zone, desired - count)
  }
  const giving = new Map<string, number>()
  const receiving = new Map<string, number>()
  for (;;) {
    const [from, more] = most(surplus)
    const [to, less] = most(lack)
    if (from === undefined || to === undefined) break
    if ((more < 1 && less < 1) || more < 0.5 || less < 0.5) break
    giving.set(from, (giving.get(from) ?? 0) + 1)
    surplus.set(from, more - 1)
    receiving.set(to, (receiving.get(to) ?? 0) + 1)
    lack.set(to, less - 1)
  }
  return { giving, receiving }
}

function most(zones: ReadonlyMap<string, number>): [zone: string | undefined, count: number] {
  let found: [string | undefined, number] = [undefined, 0]
  for (const [zone, count] of zones) if (count > found[1]) found = [zone, count]
  return found
}

/** Assigns endpoints of zones with a surplus to zones that lack them. */
function redistribute(
  drafts: readonly SliceDraft[],
  counts: Map<string, number>,
  { giving, receiving }: ReturnType<typeof balance>,
): void {
  const take = (zones: Map<string, number>, zone: string) => {
    const left = zones.get(zone)! - 1
    if (left === 0) zones.delete(zone)
    else zones.set(zone, left)
  }
  for (const draft of drafts)
    draft.endpoints = draft.endpoints.map(endpoint => {
      const { zone = '' } = endpoint
      const [to] = receiving.keys()
      if (to === undefined || !isReadyEndpoint(endpoint) || !giving.has(zone)) return endpoint
      take(giving, zone)
      take(receiving, to)
      counts.set(zone, (counts.get(zone) ?? 0) - 1)
      counts.set(to, (counts.get(to) ?? 0) + 1)
      return hinted(endpoint, to)
    })
}

function isOverloaded(counts: ReadonlyMap<string, number>, shares: ZoneShares | undefined): boolean {
  if (counts.size === 0) return false
  if (!shares) return true
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return [...shares].some(([zone, share]) => {
    const count = counts.get(zone)
    return count === undefined || count < Math.ceil(total * share * (1 / (1 + overloadThreshold)))
  })
}
