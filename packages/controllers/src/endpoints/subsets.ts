import type { EndpointAddress, EndpointPort, EndpointSubset } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

/** One address with one port, or none. */
export interface AddressOnPort {
  readonly address: EndpointAddress
  readonly port?: EndpointPort
  readonly ready: boolean
}

/** The maximum number of addresses in an Endpoints object. */
export const capacity = 1_000

/**
 * The canonical form: ports with the same addresses share a subset, without duplicates, sorted. An address that is not ready on a
 * port is not also ready there.
 */
export function packSubsets(entries: readonly AddressOnPort[]): EndpointSubset[] {
  interface OnPort {
    readonly port: EndpointPort | undefined
    readonly addresses: Map<string, { readonly address: EndpointAddress; readonly ready: boolean }>
  }
  const byPort = new Map<string, OnPort>()
  /** The first occurrence of an address determines its details. */
  const known = new Map<string, EndpointAddress>()
  for (const { address: given, port, ready } of entries) {
    const key = sortKey(given)
    const address = known.get(key) ?? given
    known.set(key, address)
    const on: OnPort = byPort.get(portKey(port)) ?? { port, addresses: new Map() }
    byPort.set(portKey(port), on)
    if (on.addresses.get(key)?.ready !== false) on.addresses.set(key, { address, ready })
  }
  const byAddresses = Map.groupBy(byPort.entries(), ([, { addresses }]) =>
    [...addresses]
      .map(([key, { ready }]) => `${key} ${ready}`)
      .sort()
      .join(),
  )
  return [...byAddresses.values()]
    .map(members => members.sort(([a], [b]) => (a < b ? -1 : 1)))
    .sort(([[a] = ['']], [[b] = ['']]) => (a < b ? -1 : 1))
    .map(members => {
      const all = [...members[0]![1].addresses.values()]
      const sorted = (entries: typeof all) =>
        entries.map(({ address }) => address).sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
      const addresses = sorted(all.filter(({ ready }) => ready))
      const notReadyAddresses = sorted(all.filter(({ ready }) => !ready))
      const ports = members.flatMap(([, { port }]) => port ?? [])
      return {
        ...(addresses.length > 0 && { addresses }),
        ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
        ...(ports.length > 0 && { ports }),
      }
    })
}

const sortKey = ({ ip, targetRef }: EndpointAddress) => `${ip} ${targetRef?.uid ?? ''}`
const portKey = (port: EndpointPort | undefined) =>
  port ? JSON.stringify([port.name ?? '', port.port, port.protocol ?? 'TCP', port.appProtocol ?? '']) : ''

export function countAddresses(subsets: readonly DeepReadonly<EndpointSubset>[]): number {
  return subsets.reduce(
    (sum, { addresses = [], notReadyAddresses = [] }) => sum + addresses.length + notReadyAddresses.length,
    0,
  )
}

/** Truncates to the maximum number of addresses, ready ones first, a fair share of each subset. */
export function truncateSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  if (countAddresses(subsets) <= capacity) return [...subsets]
  const ready = subsets.reduce((sum, { addresses = [] }) => sum + addresses.length, 0)
  const field = ready > capacity ? 'addresses' : 'notReadyAddresses'
  const room = ready > capacity ? capacity : capacity - ready
  const total = ready > capacity ? ready : countAddresses(subsets) - ready
  let left = room
  return subsets.map(({ addresses, notReadyAddresses, ...others }) => {
    const all = (field === 'addresses' ? addresses : notReadyAddresses) ?? []
    const share = Math.min(left, Math.ceil((all.length / total) * room), all.length)
    left -= share
    return {
      ...others,
      ...(field === 'notReadyAddresses' && addresses && { addresses }),
      ...(share > 0 && { [field]: all.slice(0, share) }),
    }
  })
}
