import type { Endpoint, EndpointPort, EndpointSlice } from '@coxswain/api/discovery/v1'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export type SliceView = DeepReadonly<EndpointSlice>

/** Endpoints with the same ports. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

/** The desired content of a slice. */
export interface SliceDraft {
  /** The existing slice; undefined for a new one. */
  readonly slice: SliceView | undefined
  readonly ports: readonly DeepReadonly<EndpointPort>[]
  endpoints: DeepReadonly<Endpoint>[]
}

/** An existing slice. */
export type SliceChange = SliceDraft & { readonly slice: SliceView }

export interface SlicePlan {
  readonly create: readonly SliceDraft[]
  readonly update: readonly SliceChange[]
  readonly delete: readonly SliceView[]
  readonly unchanged: readonly SliceChange[]
}

export interface PackingOptions {
  /** The maximum number of endpoints in a slice. */
  readonly max: number
  /** Whether a slice has to be written even if its endpoints are up to date, for example because of its labels. */
  readonly isStale: (slice: SliceView) => boolean
  /** Whether an empty slice is kept if there are no endpoints. @default false */
  readonly placeholder?: boolean
  /** Whether hints are set elsewhere: a slice that differs only in hints is up to date. @default false */
  readonly ignoresHints?: boolean
}

/**
 * Plans how slices of one address type hold these endpoints with few writes: endpoints stay in their slice, new ones are added
 * first to slices that change anyway, then to the one they fill best, then to new ones. Slices are never merged.
 */
export function planSlices(
  existing: readonly SliceView[],
  groups: readonly EndpointGroup[],
  options: PackingOptions,
): SlicePlan {
  // The server returns null for empty lists here.
  const byPorts = Map.groupBy(existing, ({ ports }) => portsKey(ports ?? []))
  const create: SliceDraft[] = []
  const update: SliceChange[] = []
  const unchanged: SliceChange[] = []
  const gone: SliceView[] = []
  for (const group of groups) {
    const key = portsKey(group.ports)
    const packed = packGroup(byPorts.get(key) ?? [], group, options)
    byPorts.delete(key)
    for (const draft of packed.drafts) {
      if (draft.slice) update.push({ ...draft, slice: draft.slice })
      else create.push(draft)
    }
    for (const item of packed.emptied) gone.push(item)
    for (const item of packed.unchanged) unchanged.push(item)
  }
  for (const item of [...byPorts.values()].flat()) gone.push(item)
  if (options.placeholder && create.length === 0 && gone.length === existing.length) {
    const [only] = gone
    const isPlaceholder = gone.length === 1 && !only!.endpoints?.length && !only!.ports?.length
    if (isPlaceholder && !options.isStale(only!)) gone.pop()
    else create.push({ slice: undefined, ports: [], endpoints: [] })
  }
  // Reuses a slice that would be deleted for one that would be created: one write less, and watchers see no gap.
  while (create.length > 0 && gone.length > 0) {
    update.push({ ...create.pop()!, slice: gone.shift()! })
  }
  return { create, update, delete: gone, unchanged }
}

function packGroup(
  existing: readonly SliceView[],
  { ports, endpoints }: EndpointGroup,
  { max, isStale, ignoresHints = false }: PackingOptions,
): {
  readonly drafts: readonly SliceDraft[]
  readonly emptied: readonly SliceView[]
  readonly unchanged: readonly SliceChange[]
} {
  const missing = new Map(endpoints.map(endpoint => [endpointKey(endpoint), endpoint]))
  const changed: SliceDraft[] = []
  const unchanged: SliceChange[] = []
  const emptied: SliceView[] = []
  for (const slice of existing) {
    const before = slice.endpoints ?? []
    const after: Endpoint[] = []
    for (const endpoint of before) {
      const key = endpointKey(endpoint)
      const wanted = missing.get(key)
      if (!wanted || after.length === max) continue
      after.push(wanted)
      missing.delete(key)
    }
    const draft: SliceChange = { slice, ports, endpoints: after }
    if (after.length === 0) emptied.push(slice)
    else if (isStale(slice) || !sameEndpoints(before, after, { ignoresHints })) changed.push(draft)
    else unchanged.push({ ...draft, endpoints: [...before] })
  }
  const left = [...missing.values()]
  const fill = (draft: SliceDraft) => {
    draft.endpoints = [...draft.endpoints, ...left.splice(0, max - draft.endpoints.length)]
  }
  for (const draft of [...changed].sort((a, b) => b.endpoints.length - a.endpoints.length)) fill(draft)
  while (left.length > 0) {
    const best = unchanged
      .filter(draft => draft.endpoints.length + left.length <= max)
      .sort((a, b) => b.endpoints.length - a.endpoints.length)[0]
    const draft = best ?? { slice: undefined, ports, endpoints: [] }
    if (best) unchanged.splice(unchanged.indexOf(best), 1)
    fill(draft)
    changed.push(draft)
  }
  return { drafts: changed, emptied, unchanged }
}

function sameEndpoints(
  a: readonly DeepReadonly<Endpoint>[],
  b: readonly DeepReadonly<Endpoint>[],
  options: Pick<PackingOptions, 'ignoresHints'>,
): boolean {
  const same = (one: DeepReadonly<Endpoint>, other: DeepReadonly<Endpoint>) =>
    deepEqual(plain(one, options), plain(other, options))
  return a.length === b.length && a.every((endpoint, index) => same(endpoint, b[index]!))
}

/** The resource version of a target reference does not matter. */
function plain(
  { targetRef, hints, ...endpoint }: DeepReadonly<Endpoint>,
  { ignoresHints }: Pick<PackingOptions, 'ignoresHints'>,
): unknown {
  const { resourceVersion: _, ...reference } = targetRef ?? {}
  return { ...endpoint, reference, ...(!ignoresHints && { hints }) }
}

/** Identifies an endpoint, whatever its conditions. */
function endpointKey({ addresses, hostname = '', targetRef }: DeepReadonly<Endpoint>): string {
  return JSON.stringify([[...addresses].sort(), hostname, targetRef?.namespace, targetRef?.name])
}

export function portsKey(ports: readonly DeepReadonly<EndpointPort>[]): string {
  return ports
    .map(({ name = '', protocol = 'TCP', port = 0, appProtocol = '' }) =>
      JSON.stringify([name, protocol, port, appProtocol]),
    )
    .sort()
    .join()
}
