import type { IngressStatus } from '@coxswain/api/networking/v1'
import type { FieldError } from '@coxswain/apimachinery/field'
import * as field from '@coxswain/apimachinery/field'
import {
  isValidCIDRForLegacyField,
  isValidIPForLegacyField,
  parseIP,
} from '@coxswain/apimachinery/validation'
import type { Decoded } from '../decoded.ts'

/** Fields that are older than strict address validation; what was there before stays valid. */
export const legacyIP = (path: field.Path, value: string, validOld?: ReadonlySet<string>): FieldError[] =>
  isValidIPForLegacyField(path, value, { strict: true, ...(validOld && { validOld }) })

export const legacyCIDR = (path: field.Path, value: string, validOld?: ReadonlySet<string>): FieldError[] =>
  isValidCIDRForLegacyField(path, value, { strict: true, ...(validOld && { validOld }) })

export const isIPv6 = (value: string): boolean => value.includes(':') && parseIP(value) !== undefined
export const isIPv4 = (value: string): boolean => !value.includes(':') && parseIP(value) !== undefined

/** Kinds of addresses that are not reachable from another machine. */
export function validateEndpointIP(value: string, path: field.Path): FieldError[] {
  const ip = parseIP(value)
  if (!ip) return [field.invalid(path, value, 'must be a valid IP address')]
  const bytes = unmap(ip.bytes)
  const [first = 0, second = 0, third = 0] = bytes
  const v4 = bytes.length === 4
  const isUnspecified = bytes.every(byte => byte === 0)
  const isLoopback = v4
    ? first === 127
    : bytes.at(-1) === 1 && bytes.subarray(0, -1).every(byte => byte === 0)
  const isLinkLocal = v4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80
  const isLocalMulticast = v4
    ? first === 224 && second === 0 && third === 0
    : first === 0xff && (second & 0x0f) === 2
  const errors: FieldError[] = []
  if (isUnspecified) errors.push(field.invalid(path, value, `may not be unspecified (${value})`))
  if (isLoopback)
    errors.push(field.invalid(path, value, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'))
  if (isLinkLocal)
    errors.push(field.invalid(path, value, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'))
  if (isLocalMulticast) {
    const message = 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'
    errors.push(field.invalid(path, value, message))
  }
  return errors
}

/** An IPv4-mapped IPv6 address counts as IPv4. */
function unmap(bytes: Uint8Array): Uint8Array {
  const isMapped =
    bytes.length === 16 &&
    bytes.subarray(0, 10).every(byte => byte === 0) &&
    bytes[10] === 255 &&
    bytes[11] === 255
  return isMapped ? bytes.subarray(12) : bytes
}

/** The addresses of a load balancer status. */
export const ingressIPs = (status: Decoded<IngressStatus> | undefined): ReadonlySet<string> =>
  new Set((status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '').filter(ip => ip !== ''))

/** Addresses or host names of a load balancer status, each once, in order. */
export function printLoadBalancer(status: Decoded<IngressStatus> | undefined): string {
  const ingress = status?.loadBalancer?.ingress ?? []
  const shown = ingress.map(({ ip, hostname }) => ip || hostname || '').filter(text => text !== '')
  return [...new Set(shown)].sort().join(',')
}

const shownAtMost = 3

/** The first few, and how many there are besides. */
export function printFew(items: readonly string[]): string {
  const shown = items.slice(0, shownAtMost).join(',')
  return items.length > shownAtMost ? `${shown} + ${items.length - shownAtMost} more...` : shown
}
