/** DNS names. Each function returns the errors, in upstream's words; an empty list means valid. */
import { dash, digit, isShaped, isShapedBetween, lower, underscore, upper, utf8Length } from '../go/chars.ts'
import { maxBytesError, maxLenError, regexError } from './messages.ts'

export const dns1123LabelMaxLength = 63
export const dns1123SubdomainMaxLength = 253
export const dns1035LabelMaxLength = 63

const alphanumeric = lower | digit

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain = `${label}(\\.${label})*`
const labelWithUnderscore = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const subdomainWithUnderscore = `${labelWithUnderscore}(\\.${labelWithUnderscore})*`
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const wildcard = `\\*\\.${subdomain}`

const edges = 'and must start and end with an alphanumeric character'
const labelMessage = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${edges}`
const subdomainMessage = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${edges}`
const caselessMessage = `an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', ${edges}`
const underscoreMessage = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', ${edges}`
const label1035Message =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const wildcardMessage =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"

/** Dot-separated parts, each of which `isPart` accepts. */
function isDotted(value: string, from: number, isPart: (from: number, to: number) => boolean): boolean {
  for (let start = from; ; ) {
    const end = value.indexOf('.', start)
    if (!isPart(start, end < 0 ? value.length : end)) return false
    if (end < 0) return true
    start = end + 1
  }
}

function isSubdomain(value: string, from = 0, letters: number = alphanumeric): boolean {
  return isDotted(value, from, (start, end) =>
    isShapedBetween(value, start, end, letters, letters | dash, letters),
  )
}

function isSubdomainWithUnderscore(value: string): boolean {
  return isDotted(value, 0, (start, end) => {
    const from = value[start] === '_' ? start + 1 : start
    return isShapedBetween(value, from, end, alphanumeric, alphanumeric | dash | underscore, alphanumeric)
  })
}

/** `my-name`: a namespace, a container. */
export function isDNS1123Label(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1123LabelMaxLength) errors.push(maxLenError(dns1123LabelMaxLength))
  if (!isShaped(value, alphanumeric, alphanumeric | dash, alphanumeric)) {
    errors.push(
      isSubdomain(value) ? 'must not contain dots' : regexError(labelMessage, label, 'my-name', '123-abc'),
    )
  }
  return errors
}

/** `example.com`: the name of most objects. */
export function isDNS1123Subdomain(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1123SubdomainMaxLength) errors.push(maxLenError(dns1123SubdomainMaxLength))
  if (!isSubdomain(value)) errors.push(regexError(subdomainMessage, subdomain, 'example.com'))
  return errors
}

/** The same rule as {@link isDNS1123Subdomain} where upstream counts in bytes: prefixes of label keys. */
export function isDNS1123SubdomainBytes(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1123SubdomainMaxLength) errors.push(maxBytesError(dns1123SubdomainMaxLength))
  if (!isSubdomain(value)) errors.push(regexError(subdomainMessage, subdomain, 'example.com'))
  return errors
}

/** Upper case allowed. */
export function isDNS1123SubdomainCaseless(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1123SubdomainMaxLength) errors.push(maxBytesError(dns1123SubdomainMaxLength))
  if (!isSubdomain(value, 0, alphanumeric | upper)) {
    errors.push(regexError(caselessMessage, subdomain, 'Example.com'))
  }
  return errors
}

/** Labels may begin with an underscore and contain some: names of DNS records such as `_http._tcp.example.com`. */
export function isDNS1123SubdomainWithUnderscore(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1123SubdomainMaxLength) errors.push(maxLenError(dns1123SubdomainMaxLength))
  if (!isSubdomainWithUnderscore(value)) {
    errors.push(regexError(underscoreMessage, subdomainWithUnderscore, 'example.com'))
  }
  return errors
}

/** A label that begins with a letter: a service. */
export function isDNS1035Label(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1035LabelMaxLength) errors.push(maxLenError(dns1035LabelMaxLength))
  if (!isShaped(value, lower, alphanumeric | dash, alphanumeric)) {
    errors.push(regexError(label1035Message, label1035, 'my-name', 'abc-123'))
  }
  return errors
}

/** `*.example.com`: the host of an ingress rule. */
export function isWildcardDNS1123Subdomain(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1123SubdomainMaxLength) errors.push(maxLenError(dns1123SubdomainMaxLength))
  if (!value.startsWith('*.') || !isSubdomain(value, 2)) {
    errors.push(regexError(wildcardMessage, wildcard, '*.example.com'))
  }
  return errors
}
