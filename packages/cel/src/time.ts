import { offsetAt } from '@coxswain/apimachinery/cron'
import { checkedInt, Duration, fault, Timestamp, toInt, type Value } from './values.ts'

const minSeconds = -62135596800
const maxSeconds = 253402300799
const billion = 1_000_000_000n
const maxDurationNanos = 2n ** 63n - 1n

function checkedTimestamp(seconds: number, nanos: number): Timestamp {
  if (seconds < minSeconds || seconds > maxSeconds) fault('timestamp overflow')
  return new Timestamp(seconds, nanos)
}

export function checkedDuration(nanos: bigint): Duration {
  if (nanos > maxDurationNanos || nanos < -maxDurationNanos - 1n) fault('duration overflow')
  return new Duration(nanos)
}

export function addDuration(a: Duration, nanos: bigint): Duration {
  return checkedDuration(a.nanos + nanos)
}

function totalNanos(t: Timestamp): bigint {
  return BigInt(t.seconds) * billion + BigInt(t.nanos)
}

export function timestampFromNanos(total: bigint): Timestamp {
  let seconds = total / billion
  let nanos = total % billion
  if (nanos < 0n) {
    nanos += billion
    seconds -= 1n
  }
  return checkedTimestamp(Number(seconds), Number(nanos))
}

export function addTimestamp(a: Timestamp, nanos: bigint): Timestamp {
  return timestampFromNanos(totalNanos(a) + nanos)
}

export function subtractTimestamps(a: Timestamp, b: Timestamp): Duration {
  return checkedDuration(totalNanos(a) - totalNanos(b))
}

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[T](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,}))?(Z|[+-]\d{2}:\d{2})$/

/** Undefined where the text is no RFC 3339 time in years 1 to 9999. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const found = rfc3339.exec(text)
  if (found === null) return undefined
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', zone = 'Z'] =
    found
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second), 0)
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() !== Number(month) - 1) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const offset = zoneMinutes(zone)
  const seconds = date.getTime() / 1000 - offset * 60
  if (seconds < minSeconds || seconds > maxSeconds) return undefined
  return new Timestamp(seconds, Number(fraction.slice(0, 9).padEnd(9, '0')))
}

function zoneMinutes(zone: string): number {
  if (zone === 'Z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const [hours = '0', minutes = '0'] = zone.replace(/^[+-]/, '').split(':')
  return sign * (Number(hours) * 60 + Number(minutes))
}

export function formatTimestamp(t: Timestamp): string {
  const date = new Date(t.seconds * 1000)
  const year = String(date.getUTCFullYear()).padStart(4, '0')
  const rest = date
    .toISOString()
    .replace(/^[+-]?\d+/, '')
    .slice(0, 15)
  return `${year}${rest}${formatFraction(t.nanos)}Z`
}

function formatFraction(nanos: number): string {
  if (nanos === 0) return ''
  return `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  '\u00b5s': 1000n,
  '\u03bcs': 1000n,
  ms: 1_000_000n,
  s: billion,
  m: 60n * billion,
  h: 3600n * billion,
}

const durationPart = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y

/** Go's time.ParseDuration; undefined where it would fail. */
export function parseDuration(text: string): Duration | undefined {
  const negative = text.startsWith('-')
  const body = text.replace(/^[+-]/, '')
  if (body === '0') return new Duration(0n)
  if (body === '') return undefined
  let total = 0n
  let at = 0
  while (at < body.length) {
    durationPart.lastIndex = at
    const found = durationPart.exec(body)
    if (found === null) return undefined
    const [whole, digits = '', fraction, unit = ''] = found
    if (digits === '' && (fraction ?? '') === '') return undefined
    const scale = unitNanos[unit] as bigint
    total += BigInt(digits === '' ? 0 : digits) * scale
    if (fraction !== undefined && fraction !== '')
      total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
    at += whole.length
  }
  const nanos = negative ? -total : total
  if (nanos > maxDurationNanos || nanos < -maxDurationNanos - 1n) return undefined
  return new Duration(nanos)
}

/** The form `string(duration)` has: seconds with a fraction, such as `1.5s`. */
export function formatDuration(d: Duration): string {
  const negative = d.nanos < 0n
  const nanos = negative ? -d.nanos : d.nanos
  return `${negative ? '-' : ''}${nanos / billion}${formatFraction(Number(nanos % billion))}s`
}

/** Whole units of a duration, rounded towards zero. */
export function durationIn(d: Duration, unitInNanos: bigint): Value {
  return checkedInt(d.nanos / unitInNanos)
}

export function timestampToInt(t: Timestamp): Value {
  return toInt(BigInt(t.seconds))
}

/** The calendar fields of an instant in a zone: an IANA name, or a fixed offset such as `-08:00`. */
export interface CalendarFields {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly dayOfYear: number
  readonly hours: number
  readonly minutes: number
  readonly seconds: number
}

export function calendar(t: Timestamp, zone: string | undefined): CalendarFields {
  const shifted = new Date((t.seconds + zoneOffsetSeconds(t, zone)) * 1000)
  const start = new Date(shifted.getTime())
  start.setUTCMonth(0, 1)
  start.setUTCHours(0, 0, 0, 0)
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth(),
    day: shifted.getUTCDate(),
    weekday: shifted.getUTCDay(),
    dayOfYear: Math.floor((shifted.getTime() - start.getTime()) / 86_400_000),
    hours: shifted.getUTCHours(),
    minutes: shifted.getUTCMinutes(),
    seconds: shifted.getUTCSeconds(),
  }
}

const fixedOffset = /^[+-]?\d{2}:\d{2}$/

function zoneOffsetSeconds(t: Timestamp, zone: string | undefined): number {
  if (zone === undefined || zone === '' || zone === 'UTC') return 0
  if (fixedOffset.test(zone)) return zoneMinutes(zone) * 60
  try {
    return offsetAt(zone, t.seconds * 1000) / 1000
  } catch {
    return fault(`unknown time zone ${zone}`)
  }
}
