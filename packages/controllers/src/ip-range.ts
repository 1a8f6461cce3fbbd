import { type CIDR, formatIP, maskIP } from '@coxswain/apimachinery/validation'

/** Whether a range contains an address. */
export function holds({ address, prefix }: CIDR, bytes: Uint8Array): boolean {
  return (
    bytes.length === address.bytes.length &&
    formatIP(maskIP(bytes, prefix)) === formatIP(maskIP(address.bytes, prefix))
  )
}

/** Whether `outer` contains all of `inner`. */
export function contains(outer: CIDR, inner: CIDR): boolean {
  return outer.prefix <= inner.prefix && holds(outer, inner.address.bytes)
}

/** Whether two ranges overlap: one then contains the other. */
export function overlap(one: CIDR, other: CIDR): boolean {
  return contains(one, other) || contains(other, one)
}
