/**
 * What a plain scalar means to the YAML 1.2 library behind kustomize (go-yaml v3), and what the YAML 1.1 library that writes its output
 * (go-yaml v2) would take a string for.
 */
import { tags } from './node.ts'

/** What a scalar is once it has been read. A timestamp is the text that JSON shows. */
export type ScalarValue = string | number | bigint | boolean | null

export interface Resolved {
  readonly tag: string
  readonly value: ScalarValue
}

const words: ReadonlyMap<string, Resolved> = new Map<string, Resolved>([
  ...['true', 'True', 'TRUE'].map(word => [word, { tag: tags.boolean, value: true }] as const),
  ...['false', 'False', 'FALSE'].map(word => [word, { tag: tags.boolean, value: false }] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map(word => [word, { tag: tags.null, value: null }] as const),
  ...['.nan', '.NaN', '.NAN'].map(word => [word, { tag: tags.float, value: Number.NaN }] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map(
    word => [word, { tag: tags.float, value: Infinity }] as const,
  ),
  ...['-.inf', '-.Inf', '-.INF'].map(word => [word, { tag: tags.float, value: -Infinity }] as const),
])

const oldBooleans = new Set('y Y yes Yes YES on On ON n N no No NO off Off OFF'.split(' '))
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/
const floatForm = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/
const goFloat = /^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)(?:[eE][-+]?[0-9]+)?$/
const mayBeSpecial = /^[-+.0-9~nNtTfF]/

/** What a plain scalar is. */
export function resolvePlain(text: string): Resolved {
  if (text !== '' && !mayBeSpecial.test(text)) return { tag: tags.string, value: text }
  const word = words.get(text)
  if (word !== undefined) return word
  const first = text.charCodeAt(0)
  if (first === 0x2e) {
    if (goFloat.test(text) && !text.includes('_')) return { tag: tags.float, value: Number(text) }
  } else if (first === 0x2b || first === 0x2d || (first >= 0x30 && first <= 0x39)) {
    const time = readTimestamp(text)
    if (time !== undefined) return { tag: tags.timestamp, value: time }
    const plain = text.replaceAll('_', '')
    const whole = readWhole(plain)
    if (whole !== undefined) return { tag: tags.integer, value: whole }
    if (floatForm.test(plain)) return { tag: tags.float, value: Number(plain) }
  }
  return { tag: tags.string, value: text }
}

const wholeForm = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)$/

function readWhole(plain: string): number | bigint | undefined {
  if (!wholeForm.test(plain)) return undefined
  const negative = plain.startsWith('-')
  const digits = /^[-+]/.test(plain) ? plain.slice(1) : plain
  const value = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits)
  if (negative && value > 2n ** 63n) return undefined
  if (!negative && value >= 2n ** 64n) return undefined
  if (plain.startsWith('+') && value >= 2n ** 63n) return undefined
  const signed = negative ? -value : value
  return value <= 2n ** 53n ? Number(signed) : signed
}

const timestampForm =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:([Tt])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?(Z|[-+]\d{2}:\d{2}))|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d+))?))?$/

/** A timestamp as Go's JSON shows it; undefined when the text is not one. */
function readTimestamp(text: string): string | undefined {
  const match = timestampForm.exec(text)
  if (match === null) return undefined
  const [, year, month, day, , hour1, minute1, second1, fraction1, zone, hour2, minute2, second2, fraction2] =
    match
  const hour = Number(hour1 ?? hour2 ?? 0)
  const minute = Number(minute1 ?? minute2 ?? 0)
  const second = Number(second1 ?? second2 ?? 0)
  const daysOfMonth = new Date(Date.UTC(Number(year) || 400, Number(month), 0)).getUTCDate()
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > daysOfMonth)
    return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const digits = (fraction1 ?? fraction2 ?? '').slice(0, 9).replace(/0+$/, '')
  const two = (value: number | string | undefined) => String(value).padStart(2, '0')
  const shownZone = zone === undefined || zone === '+00:00' || zone === '-00:00' ? 'Z' : zone
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${digits === '' ? '' : `.${digits}`}${shownZone}`
}

/** Whether the YAML 1.2 library quotes a string so that it stays one. */
export function needsQuotes(text: string): boolean {
  return resolvePlain(text).tag !== tags.string || base60.test(text) || oldBooleans.has(text)
}

/** Whether the YAML 1.1 library that writes the output quotes a string so that it stays one. */
export function needsQuotesInOutput(text: string): boolean {
  const first = text.charCodeAt(0)
  // Letters other than those that begin a boolean or null, the most frequent case by far.
  if (first >= 0x61 && first <= 0x7a && !/^[ynotf]/.test(text)) return false
  return needsQuotes(text)
}
