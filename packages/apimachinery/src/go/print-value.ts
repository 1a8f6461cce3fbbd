import { quote } from './quote.ts'

/**
 * A number as Go's `%v` prints it. Whole numbers within int64 print as integers, because that is what they are after
 * Kubernetes has read them; anything else prints as a float64.
 */
export function printNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return value.toString()
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString()
  return printFloat(value)
}

/**
 * A float64 as Go's `%v` prints it, whole or not: the shortest digits that mean the same number, with an exponent of at
 * least two digits below 0.0001 and from 1e+06 up.
 */
export function printFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return Object.is(value, -0) ? '-0' : String(value)
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** JSON text among the values to print. */
class Text {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const comma = new Text(',')
const closeObject = new Text('}')
const closeArray = new Text(']')

/**
 * A value as Go's `json.Marshal` prints it: keys sorted (those of a Go map are; those of a struct are not, hence
 * `sorted`), no spaces, `<`, `>` and `&` escaped. bigints print as numbers. Depth is no limit. Past `longest` characters the
 * rest is left out.
 */
export function printJson(value: unknown, sorted = true, longest: number = Number.POSITIVE_INFINITY): string {
  let out = ''
  // What is still to be printed, the next one last.
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && out.length <= longest) {
    const next = waiting.pop()
    if (next instanceof Text) out += next.text
    else if (typeof next !== 'object' || next === null) out += printScalar(next)
    else if (Array.isArray(next)) {
      out += '['
      waiting.push(closeArray)
      for (let i = next.length - 1; i >= 0; i--) {
        waiting.push(next[i])
        if (i > 0) waiting.push(comma)
      }
    } else if (hasToJson(next)) waiting.push(next.toJSON())
    else {
      out += '{'
      waiting.push(closeObject)
      const keys = Object.keys(next).filter(key => (next as Record<string, unknown>)[key] !== undefined)
      if (sorted) keys.sort(compareCodePoints)
      for (let i = keys.length - 1; i >= 0; i--) {
        const key = keys[i]!
        waiting.push((next as Record<string, unknown>)[key])
        waiting.push(new Text(`${i > 0 ? ',' : ''}${printJsonString(key)}:`))
      }
    }
  }
  return out
}

function printScalar(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return printJsonString(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : 'null'
    default:
      return 'null'
  }
}

/** The order of Go's string comparison (UTF-8 bytes), which differs from JavaScript's above U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left === right) continue
    const leftHigh = left >= 0xd800 && left <= 0xdfff
    const rightHigh = right >= 0xd800 && right <= 0xdfff
    if (leftHigh !== rightHigh) return leftHigh ? 1 : -1
    return left - right
  }
  return a.length - b.length
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}

const htmlEscapes: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

function printJsonString(text: string): string {
  return escapeHtml(JSON.stringify(text))
}

/** JSON as Go writes it: nothing in it could end an HTML element. */
export function escapeHtml(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, char => htmlEscapes[char]!)
}

/** A value the way field errors show it: strings quoted as Go does, plain numbers and booleans, everything else as JSON, up to `longest`. */
export function printValue(value: unknown, longest?: number): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
    case 'bigint':
      return printNumber(value)
    default:
      return printJson(value, true, longest)
  }
}
