/**
 * Where a Service's cluster IP answers on this machine: nobody without rights can have 10.96.0.1, but 127.0.0.0/8 is
 * everybody's, so that is 127.96.0.1. A range within 127.0.0.0/8 answers at its own addresses. Undefined for what is no
 * IPv4 address: `None`, nothing, and IPv6, of which a machine has one loopback address only.
 */
export function loopbackAddressOf(clusterIP: string | undefined): string | undefined {
  const rest = /^\d{1,3}((?:\.\d{1,3}){3})$/.exec(clusterIP ?? '')?.[1]
  return rest === undefined ? undefined : `127${rest}`
}
