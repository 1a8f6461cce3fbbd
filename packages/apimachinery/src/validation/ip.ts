/** IP addresses and CIDR blocks in objects. Older fields accept legacy forms; newer ones the canonical form only. */
import { type FieldError, invalid } from '../field/error.ts'
import type { Path } from '../field/path.ts'
import { quote } from '../go/quote.ts'
import {
  type CIDR,
  formatCIDR,
  formatIP,
  formatIPAsWritten,
  type IPAddress,
  isIPv4In6,
  maskIP,
  parseCIDR,
  parseIP,
} from './ip-text.ts'

export interface LegacyIPRules {
  /** Rejects leading zeros, IPv4-mapped IPv6 and, in a CIDR, host bits. */
  readonly strict: boolean
  /** Values of the old object: they stay valid. */
  readonly validOld?: ReadonlySet<string>
}

function checkIP(path: Path, value: string, strict: boolean): { ip?: IPAddress; errors: FieldError[] } {
  const ip = parseIP(value)
  if (!ip) {
    return { errors: [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')] }
  }
  const errors: FieldError[] = []
  if (strict && !ip.strict) errors.push(invalid(path, value, 'must not have leading 0s'))
  else if (strict && isIPv4In6(ip.bytes)) {
    errors.push(invalid(path, value, 'must not be an IPv4-mapped IPv6 address'))
  }
  return { ip, errors }
}

/** For fields of built-in kinds that are older than strict validation. */
export function isValidIPForLegacyField(path: Path, value: string, rules: LegacyIPRules): FieldError[] {
  return rules.validOld?.has(value) ? [] : checkIP(path, value, rules.strict).errors
}

/** For new fields: the canonical form only. */
export function isValidIP(path: Path, value: string): FieldError[] {
  const { ip, errors } = checkIP(path, value, true)
  if (!ip || errors.length > 0) return errors
  const canonical = formatIP(ip.bytes)
  return value === canonical ? [] : [invalid(path, value, `must be in canonical form (${quote(canonical)})`)]
}

function checkCIDR(path: Path, value: string, strict: boolean): { cidr?: CIDR; errors: FieldError[] } {
  const cidr = parseCIDR(value)
  if (!cidr) {
    return {
      errors: [invalid(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')],
    }
  }
  const { bytes } = cidr.address
  let problem = ''
  if (!strict) problem = ''
  else if (!cidr.strict) problem = 'must not have leading 0s in IP or prefix length'
  else if (isIPv4In6(bytes)) problem = 'must not have an IPv4-mapped IPv6 address'
  else if (hasHostBits(cidr)) problem = 'must not have bits set beyond the prefix length'
  return { cidr, errors: problem === '' ? [] : [invalid(path, value, problem)] }
}

function hasHostBits({ address: { bytes }, prefix }: CIDR): boolean {
  return maskIP(bytes, prefix).some((byte, index) => byte !== bytes[index])
}

/** Errors unless `value` is a CIDR block by the rules of fields that existed before strict validation. */
export function isValidCIDRForLegacyField(path: Path, value: string, rules: LegacyIPRules): FieldError[] {
  return rules.validOld?.has(value) ? [] : checkCIDR(path, value, rules.strict).errors
}

/** Errors unless `value` is a CIDR block in canonical form. */
export function isValidCIDR(path: Path, value: string): FieldError[] {
  const { cidr, errors } = checkCIDR(path, value, true)
  if (!cidr || errors.length > 0) return errors
  const canonical = formatCIDR(cidr)
  return value === canonical ? [] : [invalid(path, value, `must be in canonical form (${quote(canonical)})`)]
}

/** An address with the length of its network's prefix, `10.9.8.7/24`. */
export function isValidInterfaceAddress(path: Path, value: string): FieldError[] {
  const cidr = parseCIDR(value)
  if (!cidr) {
    const detail = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'
    return [invalid(path, value, detail)]
  }
  const { bytes } = cidr.address
  const prefix = isIPv4In6(bytes) && cidr.prefix > 32 ? cidr.prefix - 96 : cidr.prefix
  const canonical = `${formatIP(bytes)}/${prefix}`
  return value === canonical ? [] : [invalid(path, value, `must be in canonical form (${quote(canonical)})`)]
}

/** The server's warnings about a valid but non-canonical address in a legacy field. */
export function warningsForIP(path: Path, value: string): string[] {
  const ip = parseIP(value)
  if (!ip) return []
  if (!ip.strict || isIPv4In6(ip.bytes)) {
    return [`${path}: non-standard IP address ${quote(value)} is invalid: use ${quote(formatIP(ip.bytes))}`]
  }
  const canonical = formatIPAsWritten(ip.bytes)
  if (ip.bytes.length === 4 || canonical === value) return []
  return [
    `${path}: IPv6 address ${quote(value)} should be in RFC 5952 canonical format (${quote(canonical)})`,
  ]
}

/** The same for a CIDR. */
export function warningsForCIDR(path: Path, value: string): string[] {
  const cidr = parseCIDR(value)
  if (!cidr) return []
  const { bytes } = cidr.address
  const warnings: string[] = []
  if (hasHostBits(cidr)) {
    const single = `${formatIP(bytes)}/${bytes.length * 8}`
    const choice = `should be ${quote(formatCIDR(cidr))} or ${quote(single)}?`
    warnings.push(`${path}: CIDR value ${quote(value)} is ambiguous in this context (${choice})`)
  }
  if (!cidr.strict || isIPv4In6(bytes)) {
    const use = quote(formatCIDR(cidr))
    warnings.push(`${path}: non-standard CIDR value ${quote(value)} is invalid: use ${use}`)
  }
  const canonical = `${formatIPAsWritten(bytes)}/${cidr.prefix}`
  if (warnings.length === 0 && bytes.length === 16 && canonical !== value) {
    const form = `should be in RFC 5952 canonical format (${quote(canonical)})`
    warnings.push(`${path}: IPv6 CIDR value ${quote(value)} ${form}`)
  }
  return warnings
}
