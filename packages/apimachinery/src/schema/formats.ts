/**
 * String formats as the API server checks them on custom resources: as lax as upstream, since a stricter check would
 * refuse objects that a cluster accepts. Names are compared without dashes (`date-time` and `datetime` are one).
 */

/** The check of a format; undefined for formats the server does not know, which accept every string. */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return checks.get(format.replaceAll('-', ''))
}

const checks: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text: string) => isIp(text, true) && text.includes('.')],
  ['ipv6', (text: string) => isIp(text, false) && text.includes(':')],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text: string) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['hexcolor', matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', isRgbColor],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text: string) => text.length <= 63 && shortName.test(text)],
  [
    'k8slongname',
    (text: string) => text.length <= 253 && text.split('.').every(part => shortName.test(part)),
  ],
])

// None of the expressions here can backtrack without bound: their repeated parts exclude what follows them.
const shortName = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/

function matches(expression: RegExp): (text: string) => boolean {
  return text => expression.test(text)
}

function isRequestUri(text: string): boolean {
  if (text === '*') return true
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what makes it invalid
  if (/[\u0000-\u0020\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false
  if (text.startsWith('/')) return true
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text)
  if (scheme === null) return false
  const rest = text.slice(scheme[0].length)
  if (!rest.startsWith('/')) return rest !== ''
  if (!rest.startsWith('//')) return true
  const host = (/^[^/?#]*/.exec(rest.slice(2))?.[0] ?? '').replace(/^.*@/, '')
  const port = host.startsWith('[')
    ? host.slice(host.indexOf(']') + 1)
    : host.slice(Math.max(host.indexOf(':'), 0))
  if (host.startsWith('[') && !host.includes(']')) return false
  return (port === host && !host.startsWith(':')) || port === '' || /^:[0-9]*$/.test(port)
}

/** An address as in RFC 5322, with or without a display name. */
function isEmail(text: string): boolean {
  const trimmed = text.trim()
  const angled = /^(?:"(?:[^"\\]|\\.)*"|[^<>@"]*)\s*<([^<>]*)>$/.exec(trimmed)
  const address = angled?.[1] ?? trimmed
  const at = address.lastIndexOf('@')
  if (at <= 0) return false
  const local = address.slice(0, at)
  const domain = address.slice(at + 1)
  const quoted = local.length >= 2 && local.startsWith('"') && local.endsWith('"')
  return (quoted || isDotAtom(local)) && (isDotAtom(domain) || /^\[[^[\]\\\s]+\]$/.test(domain))
}

function isDotAtom(text: string): boolean {
  return text.split('.').every(part => /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\uffff]+$/.test(part))
}

function isHostname(text: string): boolean {
  if (text === '' || utf8Length(text) > 255) return false
  const labels = text.split('.')
  if (labels.some(label => utf8Length(label) > 63)) return false
  if (labels.length === 1) return /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u.test(text)
  const top = labels.pop()!
  return (
    /^[a-zA-Z\p{L}]{2,63}$/u.test(top) &&
    labels.every(label =>
      /^[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]*[a-zA-Z0-9\p{S}\p{L}])?$/u.test(label),
    )
  )
}

function utf8Length(text: string): number {
  let length = 0
  for (const char of text) {
    const code = char.codePointAt(0)!
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return length
}

/** `sloppy` allows leading zeros in IPv4 parts, as upstream does for compatibility. */
function isIp(text: string, sloppy: boolean): boolean {
  return text.includes(':') ? isIpv6(text, sloppy) : isIpv4(text, sloppy)
}

function isIpv4(text: string, sloppy: boolean): boolean {
  const parts = text.split('.')
  return (
    parts.length === 4 &&
    parts.every(
      part => /^[0-9]{1,6}$/.test(part) && Number(part) <= 255 && (sloppy || part === String(Number(part))),
    )
  )
}

function isIpv6(text: string, sloppy: boolean): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.map(half => (half === '' ? [] : half.split(':')))
  const all = groups.flat()
  let count = all.length
  const last = all.at(-1)
  if (last?.includes('.')) {
    if (!isIpv4(last, sloppy) || !text.endsWith(last)) return false
    all.pop()
    count++
  }
  return (
    all.every(group => /^[0-9a-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
  )
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  if (slash < 0) return false
  const address = text.slice(0, slash)
  const length = text.slice(slash + 1)
  return (
    isIp(address, true) && /^[0-9]{1,6}$/.test(length) && Number(length) <= (address.includes(':') ? 128 : 32)
  )
}

function isMac(text: string): boolean {
  return (
    /^[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5}|(?::[0-9a-f]{2}){7}|(?::[0-9a-f]{2}){19})$/i.test(text) ||
    /^[0-9a-f]{2}(?:(?:-[0-9a-f]{2}){5}|(?:-[0-9a-f]{2}){7}|(?:-[0-9a-f]{2}){19})$/i.test(text) ||
    /^[0-9a-f]{4}(?:(?:\.[0-9a-f]{4}){2}|(?:\.[0-9a-f]{4}){3}|(?:\.[0-9a-f]{4}){9})$/i.test(text)
  )
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 13; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return sum % 10 === 0
}

const cardNumber =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}|6[27][0-9]{14})$/

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!cardNumber.test(digits)) return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text)
  if (parts === null) return false
  return parts.slice(1).every(part => Number(part) <= 255 && part === String(Number(part)))
}

/** Standard alphabet with padding; the empty string is not accepted. */
function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
}

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t')
  if (date === undefined || time === undefined || !isDate(date)) return false
  const parts = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/.exec(time)
  return parts !== null && parts[1]! <= '23' && parts[2]! <= '59' && parts[3]! <= '59'
}

/** Go's form (`1h30m`), or anything that holds a number followed by the name of a unit (`1d`, `2 weeks`). */
function isDuration(text: string): boolean {
  if (/^[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(text)) return true
  // The look-behind keeps the search from starting again at every digit of a long number.
  const parts = [...text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)]
  return parts.every(part => part[1]!.length < 19) && parts.some(part => isUnit(part[2]!.toLowerCase()))
}

const exactUnits = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'])
const unitStems = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week']

function isUnit(word: string): boolean {
  return exactUnits.has(word) || unitStems.some(stem => word.startsWith(stem))
}
