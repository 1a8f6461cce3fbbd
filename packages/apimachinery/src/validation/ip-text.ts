/**
 * IP addresses and CIDR blocks as text. Kubernetes parses them as old Go versions did: octets and groups may have leading
 * zeros. Strict parsers reject what is not `strict`.
 */
export interface IPAddress {
  /** Four bytes for what was written as IPv4, else sixteen. */
  readonly bytes: Uint8Array
  /** False when there are leading zeros that current parsers reject. */
  readonly strict: boolean
}

/** A parsed CIDR block. */
export interface CIDR {
  readonly address: IPAddress
  readonly prefix: number
  readonly strict: boolean
}

/** Parses an IP address; undefined when it is invalid. */
export function parseIP(text: string): IPAddress | undefined {
  if (text.length > 64) return undefined
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text)
}

function parseIPv4(text: string): IPAddress | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every(part => /^\d{1,8}$/.test(part) && Number(part) <= 255))
    return undefined
  return {
    bytes: Uint8Array.from(parts, Number),
    strict: parts.every(part => part.length === 1 || part[0] !== '0'),
  }
}

function parseIPv6(text: string): IPAddress | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? parseGroups(halves[1]!, true) : { bytes: [], strict: true }
  if (!head || !tail) return undefined
  const missing = 16 - head.bytes.length - tail.bytes.length
  // The two colons replace at least one group.
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined
  const bytes = Uint8Array.from([...head.bytes, ...new Array<number>(missing).fill(0), ...tail.bytes])
  return { bytes, strict: head.strict && tail.strict }
}

// Groups between colons; the last may be an IPv4 address where `last` says that the text ends with it.
function parseGroups(text: string, last: boolean): { bytes: number[]; strict: boolean } | undefined {
  if (text === '') return { bytes: [], strict: true }
  const bytes: number[] = []
  let strict = true
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (last && index === groups.length - 1 && group.includes('.')) {
      const embedded = parseIPv4(group)
      if (!embedded) return undefined
      for (const item of embedded.bytes) bytes.push(item)
      strict &&= embedded.strict
      continue
    }
    const value = /^[0-9a-fA-F]{1,8}$/.test(group) ? Number.parseInt(group, 16) : Number.NaN
    if (!(value <= 0xffff)) return undefined
    bytes.push(value >> 8, value & 0xff)
    strict &&= group.length <= 4
  }
  return { bytes, strict }
}

/** Parses a CIDR block; undefined when it is invalid. */
export function parseCIDR(text: string): CIDR | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseIP(text.slice(0, slash))
  const mask = text.slice(slash + 1)
  if (!address || !/^\d{1,8}$/.test(mask) || Number(mask) > address.bytes.length * 8) return undefined
  return {
    address,
    prefix: Number(mask),
    strict: address.strict && (mask.length === 1 || mask[0] !== '0'),
  }
}

/** True for `::ffff:1.2.3.4`: IPv4 in the form of IPv6. */
export function isIPv4In6(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 &&
    bytes.subarray(0, 10).every(byte => byte === 0) &&
    bytes[10] === 255 &&
    bytes[11] === 255
  )
}

/** The canonical text (RFC 5952); an IPv4-mapped address prints as IPv4, as in Go. */
export function formatIP(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  return isIPv4In6(bytes) ? bytes.subarray(12).join('.') : formatIPv6(groupsOf(bytes))
}

/** The canonical text of IPv6 as such; an IPv4-mapped address keeps its prefix. */
export function formatIPAsWritten(bytes: Uint8Array): string {
  return isIPv4In6(bytes) ? `::ffff:${bytes.subarray(12).join('.')}` : formatIP(bytes)
}

function groupsOf(bytes: Uint8Array): number[] {
  return Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!)
}

// The first of the longest runs of two or more zero groups is left out.
function formatIPv6(groups: readonly number[]): string {
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > length) {
      start = i
      length = end - i
    }
  }
  const hex = groups.map(group => group.toString(16))
  if (start < 0) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** The network: host bits zero. */
export function maskIP(bytes: Uint8Array, prefix: number): Uint8Array {
  return bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, prefix - index * 8))) & 0xff)
}

/** The network in canonical form. */
export function formatCIDR({ address: { bytes }, prefix }: CIDR): string {
  const length = isIPv4In6(maskIP(bytes, prefix)) ? prefix - 96 : prefix
  return `${formatIP(maskIP(bytes, prefix))}/${length}`
}
