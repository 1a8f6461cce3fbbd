import type { Endpoint, EndpointPort, EndpointSlice } from '@coxswain/api/discovery/v1'
import { type DeepReadonly, deepEqual } from '@coxswain/apimachinery'

export type SliceView = DeepReadonly<EndpointSlice>

/** Endpoints that have the same ports. */
export interface EndpointGroup {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

/** A slice as it is to be. */
export interface SliceDraft {
  /** What it is now; undefined for a new one. */
  readonly slice: SliceView | undefined
  readonly ports: readonly DeepReadonly<EndpointPort>[]
  endpoints: DeepReadonly<Endpoint>[]
}

/** One that is there already. */
export type SliceChange = SliceDraft & { readonly slice: SliceView }

export interface SlicePlan {
  readonly create: readonly SliceDraft[]
  readonly update: readonly SliceChange[]
  readonly delete: readonly SliceView[]
  readonly unchanged: readonly SliceChange[]
}

export interface PackingOptions {
  /** Endpoints in one slice. */
  readonly max: number
  /** Whether a slice needs writing even if its endpoints are right: its labels, for instance. */
  readonly isStale: (slice: SliceView) => boolean
  /** Whether one empty slice stays when there is nothing to say. @default false */
  readonly placeholder?: boolean
  /** Whether hints are somebody else's: a slice that differs in nothing else is as it should be, with those it has. @default false */
  readonly ignoresHints?: boolean
}

/**
 * How slices of one address type get to hold these endpoints with few writes: endpoints stay where they are, new ones go
 * first to slices that change anyway, then to the one they fill best, then to new ones. Slices are never merged.
 */
export function planSlices(
  existing: readonly SliceView[],
  groups: readonly EndpointGroup[],
  options: PackingOptions,
): SlicePlan {
  // The server says null for empty lists here.
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
  // One that would go becomes one that would come: a write less, and watchers see no gap.
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
    else if (isStale(slice) || !sameEndpoints(before, after, ignoresHints)) changed.push(draft)
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
  ignoresHints: boolean,
): boolean {
  const same = (one: DeepReadonly<Endpoint>, other: DeepReadonly<Endpoint>) =>
    deepEqual(plain(one, ignoresHints), plain(other, ignoresHints))
  return a.length === b.length && a.every((endpoint, index) => same(endpoint, b[index]!))
}

/** Versions of what an endpoint refers to come and go. */
function plain({ targetRef, hints, ...endpoint }: DeepReadonly<Endpoint>, ignoresHints: boolean): unknown {
  const { resourceVersion: _, ...reference } = targetRef ?? {}
  return { ...endpoint, reference, ...(!ignoresHints && { hints }) }
}

/** Which endpoint it is, whatever is said of it. */
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
