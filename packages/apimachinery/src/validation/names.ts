/** Keys, values and identifiers. Each function returns the errors, in upstream's words; an empty list means valid. */
import { dash, digit, dot, isEvery, isShaped, lower, underscore, upper, utf8Length } from '../go/chars.ts'
import { dns1123SubdomainMaxLength, isDNS1123SubdomainBytes } from './dns.ts'
import { emptyError, inclusiveRangeError, maxBytesError, maxLenError, regexError } from './messages.ts'

export const labelValueMaxLength = 63
const qualifiedNameMaxLength = 63

const letters = lower | upper
const alphanumeric = letters | digit
const extended = alphanumeric | dash | underscore | dot

const keyPattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const valuePattern = `(${keyPattern})?`
const keyMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const valueMessage = `a valid label must be an empty string or ${keyMessage.slice('must '.length)}`

/** A label key, annotation key or finalizer: `name`, or `example.com/name`. */
export function isQualifiedName(value: string): string[] {
  if (value.length <= qualifiedNameMaxLength && isShaped(value, alphanumeric, extended, alphanumeric))
    return []
  const parts = value.split('/', 3)
  const errors: string[] = []
  if (parts.length > 2) {
    const error = regexError(keyMessage, keyPattern, 'MyName', 'my.name', '123-abc')
    return [
      `a valid label key ${error} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts[parts.length - 1]!
  if (parts.length === 2) {
    const prefix = parts[0]!
    const wrong = prefix === '' ? [emptyError] : isDNS1123SubdomainBytes(prefix)
    for (const error of wrong.map(message => `prefix part ${message}`)) errors.push(error)
  }
  if (name === '') errors.push(`name part ${emptyError}`)
  else if (utf8Length(name) > qualifiedNameMaxLength) {
    errors.push(`name part ${maxBytesError(qualifiedNameMaxLength)}`)
  }
  if (!isShaped(name, alphanumeric, extended, alphanumeric)) {
    errors.push(`name part ${regexError(keyMessage, keyPattern, 'MyName', 'my.name', '123-abc')}`)
  }
  return errors
}

/** The value of a label; may be empty. */
export function isValidLabelValue(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > labelValueMaxLength) errors.push(maxBytesError(labelValueMaxLength))
  if (value !== '' && !isShaped(value, alphanumeric, extended, alphanumeric)) {
    errors.push(regexError(valueMessage, valuePattern, 'MyValue', 'my_value', '12345'))
  }
  return errors
}

/** Messages unless `value` is a C identifier. */
export function isCIdentifier(value: string): string[] {
  const first = letters | underscore
  if (isShaped(value, first, first | digit, first | digit)) return []
  const message =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'"
  return [regexError(message, '[A-Za-z_][A-Za-z0-9_]*', 'my_name', 'MY_NAME', 'MyName')]
}

/** The rule for environment variables before 1.32; still that of `envFrom` prefixes in older servers. */
export function isEnvVarName(value: string): string[] {
  const errors: string[] = []
  const first = letters | dash | underscore | dot
  if (!isShaped(value, first, first | digit, first | digit)) {
    const message =
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit"
    const pattern = '[-._a-zA-Z][-._a-zA-Z0-9]*'
    errors.push(regexError(message, pattern, 'my.env-name', 'MY_ENV.NAME', 'MyEnvName1'))
  }
  return [...errors, ...hasChDirPrefix(value)]
}

/** The rule for environment variables today: printable ASCII without `=`. */
export function isRelaxedEnvVarName(value: string): string[] {
  if (value === '') return [`environment variable name ${emptyError}`]
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x3d) {
      return [
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
      ]
    }
  }
  return []
}

/** A key of a ConfigMap or Secret: usable as a file name. */
export function isConfigMapKey(value: string): string[] {
  const errors: string[] = []
  if (utf8Length(value) > dns1123SubdomainMaxLength) errors.push(maxLenError(dns1123SubdomainMaxLength))
  if (value === '' || !isEvery(value, extended)) {
    const message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    errors.push(regexError(message, '[-._a-zA-Z0-9]+', 'key.name', 'KEY_NAME', 'key-name'))
  }
  return [...errors, ...hasChDirPrefix(value)]
}

function hasChDirPrefix(value: string): string[] {
  if (value === '.') return ["must not be '.'"]
  if (value === '..') return ["must not be '..'"]
  return value.startsWith('..') ? ["must not start with '..'"] : []
}

/** A name that is safe as one segment of a path. */
export function isValidPathSegmentName(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return isValidPathSegmentPrefix(name)
}

/** The beginning of such a name, as in `generateName`. */
export function isValidPathSegmentPrefix(name: string): string[] {
  return ['/', '%'].filter(illegal => name.includes(illegal)).map(illegal => `may not contain '${illegal}'`)
}

/** `93%` */
export function isValidPercent(percent: string): string[] {
  if (percent.length > 1 && percent.endsWith('%') && isEvery(percent, digit, 0, percent.length - 1)) return []
  const message = "a valid percent string must be a numeric string followed by an ending '%'"
  return [regexError(message, '[0-9]+%', '1%', '93%')]
}

/** Messages unless `value` is the name of an HTTP header. */
export function isHTTPHeaderName(value: string): string[] {
  if (value !== '' && isEvery(value, alphanumeric | dash)) return []
  const message = "a valid HTTP header must consist of alphanumeric characters or '-'"
  return [regexError(message, '[-A-Za-z0-9]+', 'X-Header-Name')]
}

/** Messages unless `port` is from 1 to 65535. */
export function isValidPortNum(port: number): string[] {
  return isInRange(port, 1, 65535)
}

/** The name of a port in a pod or service: an IANA service name. */
export function isValidPortName(port: string): string[] {
  const errors: string[] = []
  if (utf8Length(port) > 15) errors.push(maxLenError(15))
  if (port === '' || !isEvery(port, lower | digit | dash)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(port)) errors.push('must contain at least one letter (a-z)')
  if (port.includes('--')) errors.push('must not contain consecutive hyphens')
  if (port.startsWith('-') || port.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

export function isInRange(value: number, min: number, max: number): string[] {
  return value >= min && value <= max ? [] : [inclusiveRangeError(min, max)]
}

const maxId = 2 ** 31 - 1

/** Messages unless `uid` is in the range of user ids. */
export function isValidUserID(uid: number): string[] {
  return isInRange(uid, 0, maxId)
}

/** Messages unless `gid` is in the range of group ids. */
export function isValidGroupID(gid: number): string[] {
  return isInRange(gid, 0, maxId)
}
