import { newBadRequest } from '@coxswain/apimachinery/status'
import { parseIP } from '@coxswain/apimachinery/validation'

/**
 * Whether a proxy may connect to an address: global unicast only. Loopback, link-local and similar addresses are the API
 * server's own, not the cluster's: a user who may write a Pod's or a Node's status could otherwise make the server connect to
 * itself, or to the metadata service of its machine.
 */
function isProxyableAddress(text: string): boolean {
  const ip = parseIP(text)
  return ip !== undefined && isGlobalUnicast(ip.bytes)
}

/** Upstream's 400. */
export function checkProxyableAddress(text: string): void {
  if (!isProxyableAddress(text)) throw newBadRequest('address not allowed')
}

function isGlobalUnicast(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes
  if (bytes.length === 4)
    return first !== 0 && first !== 127 && first < 224 && !(first === 169 && second === 254)
  const isLow = bytes.subarray(0, 10).every(byte => byte === 0)
  // An IPv4-mapped IPv6 address.
  if (isLow && bytes[10] === 0xff && bytes[11] === 0xff) return isGlobalUnicast(bytes.subarray(12))
  if (isLow && bytes.subarray(10, 15).every(byte => byte === 0)) return false
  return first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80)
}
