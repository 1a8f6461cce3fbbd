import { formatIP, isIPv4In6, maskIP, parseIP } from '@coxswain/apimachinery/validation'
import { type Library, overload } from '../functions.ts'
import { opaqueOf } from '../types.ts'
import { fault, type OpaqueValue, type Value } from '../values.ts'

export const ipType: ReturnType<typeof opaqueOf> = opaqueOf('net.IP')
export const cidrType: ReturnType<typeof opaqueOf> = opaqueOf('net.CIDR')

export class IPValue implements OpaqueValue {
  readonly celType: typeof ipType = ipType
  readonly bytes: Uint8Array
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
  equals(other: Value): boolean {
    return other instanceof IPValue && formatIP(this.bytes) === formatIP(other.bytes)
  }
  celSize(): number {
    return this.bytes.length
  }
  toString(): string {
    return formatIP(this.bytes)
  }
}

export class CIDRValue implements OpaqueValue {
  readonly celType: typeof cidrType = cidrType
  readonly bytes: Uint8Array
  readonly prefix: number
  constructor(bytes: Uint8Array, prefix: number) {
    this.bytes = bytes
    this.prefix = prefix
  }
  equals(other: Value): boolean {
    return other instanceof CIDRValue && this.toString() === other.toString()
  }
  celSize(): number {
    return Math.ceil(this.prefix / 8)
  }
  toString(): string {
    return `${formatIP(this.bytes)}/${this.prefix}`
  }
  contains(bytes: Uint8Array): boolean {
    if (bytes.length !== this.bytes.length) return false
    return formatIP(maskIP(bytes, this.prefix)) === formatIP(maskIP(this.bytes, this.prefix))
  }
}

/** The bytes of an address, or the complaint of Go's netip. */
function parseAddress(text: string): { readonly bytes: Uint8Array } | string {
  const found = parseIP(text)
  if (found?.strict === true) return { bytes: found.bytes }
  const quoted = JSON.stringify(text)
  if (!/[.:%]/.test(text)) return `ParseAddr(${quoted}): unable to parse IP`
  if (!text.includes(':')) return `ParseAddr(${quoted}): ${ipv4Problem(text)}`
  return `ParseAddr(${quoted}): ${ipv6Problem(text)}`
}

function ipv4Problem(text: string): string {
  const odd = /[^\d.]/.exec(text)
  if (odd !== null) return `unexpected character (at ${JSON.stringify(text.slice(odd.index))})`
  for (const part of text.split('.')) {
    if (part === '')
      return `IPv4 field must have at least one digit (at ${JSON.stringify(text.slice(text.indexOf('..') + 1))})`
    if (part.length > 1 && part.startsWith('0')) return 'IPv4 field has octet with leading zero'
    if (Number(part) > 255) return 'IPv4 field has value >255'
  }
  return text.split('.').length > 4 ? 'IPv4 address too long' : 'IPv4 address too short'
}

function ipv6Problem(text: string): string {
  const odd = /[^0-9a-fA-F:.]/.exec(text)
  if (odd !== null)
    return `each colon-separated field must have at least one digit (at ${JSON.stringify(text.slice(odd.index))})`
  const long = /[0-9a-fA-F]{5,}/.exec(text)
  if (long !== null)
    return `each group must have 4 or less digits (at ${JSON.stringify(text.slice(long.index))})`
  const second = text.indexOf('::', text.indexOf('::') + 2)
  if (second >= 0) return `multiple :: in address (at ${JSON.stringify(text.slice(second + 1))})`
  return text.split(':').length > 8 ? 'trailing garbage after address' : 'address string too short'
}

function readIP(text: string): IPValue | string {
  const [bare = '', zone] = text.split('%')
  const parsed = parseAddress(zone === undefined ? text : bare)
  const quoted = JSON.stringify(text)
  if (typeof parsed === 'string')
    return `IP Address ${quoted} parse error during conversion from string: ${parsed}`
  if (zone !== undefined) return `IP address ${quoted} with zone value is not allowed`
  if (isIPv4In6(parsed.bytes)) return `IPv4-mapped IPv6 address ${quoted} is not allowed`
  return new IPValue(parsed.bytes)
}

function readCIDR(text: string): CIDRValue | string {
  const context = 'network address parse error during conversion from string'
  const quoted = JSON.stringify(text)
  const slash = text.lastIndexOf('/')
  if (slash < 0) return `${context}: netip.ParsePrefix(${quoted}): no '/'`
  const parsed = parseAddress(text.slice(0, slash))
  if (typeof parsed === 'string') return `${context}: netip.ParsePrefix(${quoted}): ${parsed}`
  const bits = text.slice(slash + 1)
  if (!/^(0|[1-9]\d*)$/.test(bits)) {
    return `${context}: netip.ParsePrefix(${quoted}): bad bits after slash: ${JSON.stringify(bits)}`
  }
  if (Number(bits) > parsed.bytes.length * 8)
    return `${context}: netip.ParsePrefix(${quoted}): prefix length out of range`
  if (isIPv4In6(parsed.bytes)) return `IPv4-mapped IPv6 address ${quoted} is not allowed`
  return new CIDRValue(parsed.bytes, Number(bits))
}

function toIP(text: string): IPValue {
  const read = readIP(text)
  return typeof read === 'string' ? fault(read) : read
}

function toCIDR(text: string): CIDRValue {
  const read = readCIDR(text)
  return typeof read === 'string'
    ? fault(`network address parse error during conversion from string: ${read}`)
    : read
}

const all = (bytes: Uint8Array, value: number): boolean => bytes.every(b => b === value)
const is4 = (ip: IPValue): boolean => ip.bytes.length === 4
const at = (ip: IPValue, i: number): number => ip.bytes[i] as number
const isUnspecified = (ip: IPValue): boolean => all(ip.bytes, 0)
const isLoopback = (ip: IPValue): boolean =>
  is4(ip) ? at(ip, 0) === 127 : all(ip.bytes.subarray(0, 15), 0) && at(ip, 15) === 1
const isMulticast = (ip: IPValue): boolean => (is4(ip) ? (at(ip, 0) & 0xf0) === 0xe0 : at(ip, 0) === 0xff)
const isLinkLocalMulticast = (ip: IPValue): boolean =>
  is4(ip)
    ? at(ip, 0) === 224 && at(ip, 1) === 0 && at(ip, 2) === 0
    : at(ip, 0) === 0xff && (at(ip, 1) & 0x0f) === 2
const isLinkLocalUnicast = (ip: IPValue): boolean =>
  is4(ip) ? at(ip, 0) === 169 && at(ip, 1) === 254 : at(ip, 0) === 0xfe && (at(ip, 1) & 0xc0) === 0x80

function isGlobalUnicast(ip: IPValue): boolean {
  if (is4(ip) && (isUnspecified(ip) || all(ip.bytes, 255))) return false
  return !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip)
}

/** Upstream's answer to a bad address says nothing about the address. */
function containsText(block: CIDRValue, text: string): boolean {
  const read = readIP(text)
  return typeof read === 'string' ? fault('no such overload') : block.contains(read.bytes)
}

function containsCIDR(outer: CIDRValue, inner: CIDRValue): boolean {
  return outer.prefix <= inner.prefix && outer.contains(inner.bytes)
}

export const networkLibrary: Library = {
  name: 'kubernetes.net',
  types: [ipType, cidrType],
  overloads: [
    overload('string_to_ip', 'ip(string): net.IP', toIP),
    overload('ip_family', 'family(this net.IP): int', (ip: IPValue) => (is4(ip) ? 4 : 6)),
    overload(
      'ip_is_canonical',
      'ip.isCanonical(string): bool',
      (text: string) => toIP(text).toString() === text,
    ),
    overload('ip_is_unspecified', 'isUnspecified(this net.IP): bool', isUnspecified),
    overload('ip_is_loopback', 'isLoopback(this net.IP): bool', isLoopback),
    overload('ip_is_link_local_multicast', 'isLinkLocalMulticast(this net.IP): bool', isLinkLocalMulticast),
    overload('ip_is_link_local_unicast', 'isLinkLocalUnicast(this net.IP): bool', isLinkLocalUnicast),
    overload('ip_is_global_unicast', 'isGlobalUnicast(this net.IP): bool', isGlobalUnicast),
    overload('is_ip', 'isIP(string): bool', (text: string) => typeof readIP(text) !== 'string'),
    overload('ip_to_string', 'string(net.IP): string', (ip: IPValue) => ip.toString()),
    overload('string_to_cidr', 'cidr(string): net.CIDR', toCIDR),
    overload(
      'cidr_contains_ip_string',
      'containsIP(this net.CIDR, string): bool',
      (c: CIDRValue, text: string) => containsText(c, text),
    ),
    overload('cidr_contains_ip_ip', 'containsIP(this net.CIDR, net.IP): bool', (c: CIDRValue, ip: IPValue) =>
      c.contains(ip.bytes),
    ),
    overload(
      'cidr_contains_cidr_string',
      'containsCIDR(this net.CIDR, string): bool',
      (c: CIDRValue, text: string) => containsCIDR(c, toCIDR(text)),
    ),
    overload('cidr_contains_cidr', 'containsCIDR(this net.CIDR, net.CIDR): bool', containsCIDR),
    overload('cidr_ip', 'ip(this net.CIDR): net.IP', (c: CIDRValue) => new IPValue(c.bytes)),
    overload('cidr_prefix_length', 'prefixLength(this net.CIDR): int', (c: CIDRValue) => c.prefix),
    overload(
      'cidr_masked',
      'masked(this net.CIDR): net.CIDR',
      (c: CIDRValue) => new CIDRValue(maskIP(c.bytes, c.prefix), c.prefix),
    ),
    overload('is_cidr', 'isCIDR(string): bool', (text: string) => typeof readCIDR(text) !== 'string'),
    overload('cidr_to_string', 'string(net.CIDR): string', (c: CIDRValue) => c.toString()),
  ],
}
