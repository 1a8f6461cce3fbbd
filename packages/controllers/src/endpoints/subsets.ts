import type { EndpointAddress, EndpointPort, EndpointSubset } from '@coxswain/api/core/v1'
import type { DeepReadonly } from '@coxswain/apimachinery'

/** One address with one port, or none. */
export interface AddressOnPort {
  readonly address: EndpointAddress
  readonly port?: EndpointPort
  readonly ready: boolean
}

/** The addresses that an Endpoints object may hold. */
export const capacity = 1_000

/**
 * The canonical form: addresses that have the same ports share a subset, nothing is said twice, all is in order. An address
 * that is ready on a port is not also not ready there.
 */
export function packSubsets(entries: readonly AddressOnPort[]): EndpointSubset[] {
  const byAddress = new Map<
    string,
    { address: EndpointAddress; ready: boolean; ports: Map<string, EndpointPort> }
  >()
  const readyOn = new Set(
    entries.filter(({ ready }) => ready).map(entry => addressKey(entry) + portKey(entry.port)),
  )
  for (const entry of entries) {
    const { address, port, ready } = entry
    if (!ready && readyOn.has(addressKey(entry) + portKey(port))) continue
    const key = `${addressKey(entry)} ${ready}`
    const known = byAddress.get(key) ?? { address, ready, ports: new Map() }
    if (port) known.ports.set(portKey(port), port)
    byAddress.set(key, known)
  }
  const byPorts = Map.groupBy(byAddress.values(), ({ ports }) => [...ports.keys()].sort().join())
  return [...byPorts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, members]) => {
      const addressesThat = (wanted: boolean) =>
        members
          .filter(({ ready }) => ready === wanted)
          .map(({ address }) => address)
          .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
      const [addresses, notReadyAddresses] = [addressesThat(true), addressesThat(false)]
      const ports = [...members[0]!.ports].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, port]) => port)
      return {
        ...(addresses.length > 0 && { addresses }),
        ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
        ...(ports.length > 0 && { ports }),
      }
    })
}

const addressKey = ({ address }: AddressOnPort) => `${address.ip} ${address.targetRef?.uid ?? ''} `
const sortKey = ({ ip, targetRef }: EndpointAddress) => `${ip} ${targetRef?.uid ?? ''}`
const portKey = (port: EndpointPort | undefined) =>
  port ? JSON.stringify([port.name ?? '', port.port, port.protocol ?? 'TCP', port.appProtocol ?? '']) : ''

export function countAddresses(subsets: readonly DeepReadonly<EndpointSubset>[]): number {
  return subsets.reduce(
    (sum, { addresses = [], notReadyAddresses = [] }) => sum + addresses.length + notReadyAddresses.length,
    0,
  )
}

/** Leaves as many addresses as an object may hold, ready ones first, a fair share of each subset. */
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
