/**
 * The address at which a cluster IP is reachable on this machine: binding 10.96.0.1 needs privileges, but any process may
 * bind 127.96.0.1. A range within 127.0.0.0/8 keeps its own addresses. Undefined for anything but an
 * IPv4 address: `None`, nothing, and IPv6, which has only one loopback address.
 */
export function loopbackAddressOf(clusterIP: string | undefined): string | undefined {
  const rest = /^\d{1,3}((?:\.\d{1,3}){3})$/.exec(clusterIP ?? '')?.[1]
  return rest === undefined ? undefined : `127${rest}`
}
