import { MachineryError } from '../errors.ts'
import { timeQuote } from './time-quote.ts'

const units: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3], // U+00B5, the micro sign
  ['μs', 1e3], // U+03BC, the Greek letter
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3600e9],
])
const limit = 2n ** 63n

/**
 * Parses a Go duration such as `1h30m`, `1.5s` or `-100ms` into nanoseconds.
 * @throws MachineryError `BadDuration` with Go's message
 */
export function parseDuration(text: string): bigint {
  const negative = text[0] === '-'
  let rest = negative || text[0] === '+' ? text.slice(1) : text
  if (rest === '0') return 0n
  if (rest === '') throw invalid(text)
  let total = 0n
  while (rest !== '') {
    const term = readTerm(rest, text)
    total += term.nanoseconds
    if (total > limit) throw invalid(text)
    rest = rest.slice(term.length)
  }
  if (negative) return -total
  if (total === limit) throw invalid(text)
  return total
}

function invalid(text: string): MachineryError {
  return new MachineryError('BadDuration', `time: invalid duration ${timeQuote(text)}`)
}

// One number with its unit.
function readTerm(rest: string, text: string): { nanoseconds: bigint; length: number } {
  const wholeEnd = skipDigits(rest, 0)
  const hasPoint = rest[wholeEnd] === '.'
  const numberEnd = hasPoint ? skipDigits(rest, wholeEnd + 1) : wholeEnd
  const fraction = hasPoint ? rest.slice(wholeEnd + 1, numberEnd) : ''
  if (wholeEnd === 0 && fraction === '') throw invalid(text)
  // Nineteen digits are beyond the limit already.
  const digits = rest.slice(0, wholeEnd).replace(/^0+/, '')
  if (digits.length > 19) throw invalid(text)
  let unitEnd = numberEnd
  while (unitEnd < rest.length && rest[unitEnd] !== '.' && !isDigit(rest.charCodeAt(unitEnd))) unitEnd++
  if (unitEnd === numberEnd) {
    throw new MachineryError('BadDuration', `time: missing unit in duration ${timeQuote(text)}`)
  }
  const name = rest.slice(numberEnd, unitEnd)
  const unit = units.get(name)
  const whole = BigInt(digits || '0')
  if (whole > limit) throw invalid(text)
  if (unit === undefined) {
    const message = `time: unknown unit ${timeQuote(name)} in duration ${timeQuote(text)}`
    throw new MachineryError('BadDuration', message)
  }
  const nanoseconds = whole * BigInt(unit) + fractionOf(fraction, unit)
  if (nanoseconds > limit) throw invalid(text)
  return { nanoseconds, length: unitEnd }
}

// In floating point, as Go: digits that no longer fit an int64 do not count.
function fractionOf(digits: string, unit: number): bigint {
  let value = 0n
  let scale = 1
  for (let i = 0; i < digits.length && i < countedDigits; i++) {
    const next = value * 10n + BigInt(digits.charCodeAt(i) - 0x30)
    if (next >= limit) break
    value = next
    scale *= 10
  }
  return value === 0n ? 0n : BigInt(Math.trunc(Number(value) * (unit / scale)))
}

// The remaining digits are far below a nanosecond, in any unit.
const countedDigits = 60

function skipDigits(text: string, from: number): number {
  let at = from
  while (at < text.length && isDigit(text.charCodeAt(at))) at++
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Nanoseconds as Go prints a duration: `1h30m0s`, `1.5s`, `100ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? '-' : ''
  const total = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (total === 0n) return '0s'
  if (total < 1_000n) return `${sign}${total}ns`
  if (total < 1_000_000n) return `${sign}${decimal(total, 3)}µs`
  if (total < 1_000_000_000n) return `${sign}${decimal(total, 6)}ms`
  const minutes = total / 60_000_000_000n
  const seconds = `${decimal(total % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return sign + seconds
  const hours = minutes / 60n
  return `${sign}${hours > 0n ? `${hours}h` : ''}${minutes % 60n}m${seconds}`
}

// `value / 10^places` without trailing zeros.
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return `${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`
}

/** In milliseconds; rounded to the nearest. */
export function durationToMilliseconds(nanoseconds: bigint): number {
  return Math.round(Number(nanoseconds) / 1e6)
}
