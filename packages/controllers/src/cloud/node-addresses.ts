import type { NodeView } from '@coxswain/kinds'
import type { AddressView } from './provider.ts'

/** Kubelets that were told their address say so with it. */
const providedAddress = 'alpha.kubernetes.io/provided-node-ip'

/**
 * The addresses a node should have: what its cloud says, with the host name that the node has given itself where the cloud
 * knows none. Of the types that the node's own address has in the cloud, only that one counts.
 * @throws when the cloud does not know the node's own address
 */
export function wantedAddresses(
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
