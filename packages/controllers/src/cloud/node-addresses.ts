import type { NodeView } from '@coxswain/kinds'
import type { AddressView } from './provider.ts'

/** Set by kubelets that were started with a node IP. */
const providedAddress = 'alpha.kubernetes.io/provided-node-ip'

/**
 * The addresses that a node should have: those of its cloud, and the node's own host name if the cloud has none. Of the types
 * that the node's own address has in the cloud, only that address is kept.
 * @throws if the cloud does not know the node's own address
 */
export function desiredAddresses(
  { metadata, status }: NodeView,
  addresses: readonly AddressView[],
): readonly AddressView[] {
  const ownName = status?.addresses?.filter(({ type }) => type === 'Hostname') ?? []
  const all = addresses.some(({ type }) => type === 'Hostname') ? addresses : [...addresses, ...ownName]
  const provided = metadata.annotations?.[providedAddress]
  if (provided === undefined) return all
  const own = provided.split(',').flatMap(ip => {
    const found = all.filter(({ address }) => address === ip.trim())
    if (found.length > 0) return found
    throw new Error(`failed to get node address from cloud provider that matches ip: ${ip.trim()}`)
  })
  return [...own, ...all.filter(({ type }) => !own.some(each => each.type === type))]
}
