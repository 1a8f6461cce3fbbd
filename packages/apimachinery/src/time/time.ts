import { MachineryError } from '../errors.ts'
import { timeQuote } from './time-quote.ts'

/** A moment: milliseconds since 1970 as JavaScript counts them, and the nanoseconds below. */
export interface Moment {
  readonly milliseconds: number
  /** 0 to 999,999. */
  readonly nanoseconds: number
}

const timeLayout = '2006-01-02T15:04:05Z07:00'
const microTimeLayout = '2006-01-02T15:04:05.000000Z07:00'
const zeroMilliseconds = -62_135_596_800_000

/** `2026-04-01T12:00:00Z`: how a `Time` is written. Fractions of a second are cut off. */
export function formatTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000)
  if (second !== lastSecond) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, -5)}Z`
    lastSecond = second
  }
  return lastText
}

/** Every write formats the present several times. */
let lastSecond: number | undefined
let lastText = ''

/** `2026-04-01T12:00:00.123456Z`: how a `MicroTime` is written. */
export function formatMicroTime(milliseconds: number, nanoseconds = 0): string {
  const whole = Math.floor(milliseconds)
  const micros = Math.floor((milliseconds - whole) * 1000 + nanoseconds / 1000)
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}

/**
 * Parses a `Time`: RFC 3339, with or without a fraction.
 * @throws MachineryError `BadTime` with Go's message
 */
export function parseTime(text: string): Moment {
  return new TimeParser(text, timeLayout).parse()
}

/**
 * Parses a `MicroTime`: RFC 3339 with exactly six fractional digits.
 * @throws MachineryError `BadTime` with Go's message
 */
export function parseMicroTime(text: string): Moment {
  return new TimeParser(text, microTimeLayout).parse()
}

/** A `Time` as a server stores it: in UTC, without a fraction. The zero time is null. */
export function canonicalizeTime(text: string): string | null {
  const { milliseconds, nanoseconds } = parseTime(text)
  return milliseconds === zeroMilliseconds && nanoseconds === 0 ? null : formatTime(milliseconds)
}

/** A `MicroTime` as a server stores it. The zero time is null. */
export function canonicalizeMicroTime(text: string): string | null {
  const { milliseconds, nanoseconds } = parseMicroTime(text)
  const isZero = milliseconds === zeroMilliseconds && nanoseconds === 0
  return isZero ? null : formatMicroTime(milliseconds, nanoseconds)
}

class TimeParser {
  readonly #text: string
  readonly #layout: string
  #rest: string

  constructor(text: string, layout: string) {
    this.#text = text
    this.#layout = layout
    this.#rest = text
  }

  parse(): Moment {
    const year = this.#year()
    this.#literal('-')
    const month = this.#number('01', 'month', month => month >= 1 && month <= 12)
    this.#literal('-')
    const day = this.#number('02', 'day', () => true)
    this.#literal('T')
    const hour = this.#number('15', 'hour', hour => hour < 24)
    this.#literal(':')
    const minute = this.#number('04', 'minute', minute => minute < 60)
    this.#literal(':')
    const second = this.#number('05', 'second', second => second < 60)
    const nanos = this.#layout === microTimeLayout ? this.#sixDigits() : this.#fraction()
    const offsetMinutes = this.#zone()
    if (this.#rest !== '') this.#refuse(`extra text: ${timeQuote(this.#rest)}`)
    if (day < 1 || day > daysIn(year, month)) this.#refuse('day out of range')
    const seconds = hour * 3600 + (minute - offsetMinutes) * 60 + second
    const milliseconds = startOfDay(year, month, day) + seconds * 1000 + Math.floor(nanos / 1e6)
    return { milliseconds, nanoseconds: nanos % 1e6 }
  }

  #year(): number {
    const digits = this.#rest.slice(0, 4)
    if (!/^\d{4}$/.test(digits)) this.#fail('2006')
    this.#rest = this.#rest.slice(4)
    return Number(digits)
  }

  #literal(char: string): void {
    if (this.#rest[0] !== char) this.#fail(char)
    this.#rest = this.#rest.slice(1)
  }

  // Two digits; an hour may have one.
  #number(element: string, name: string, inRange: (value: number) => boolean): number {
    const match = (element === '15' ? /^\d\d?/ : /^\d\d/).exec(this.#rest.slice(0, 2))
    if (!match) return this.#fail(element)
    this.#rest = this.#rest.slice(match[0].length)
    const value = Number(match[0])
    if (!inRange(value)) this.#refuse(`${name} out of range`)
    return value
  }

  // Any number of digits after a period or a comma; what is below a nanosecond is dropped.
  #fraction(): number {
    if (!/^[.,]\d/.test(this.#rest.slice(0, 2))) return 0
    let end = 2
    while (end < this.#rest.length && isDigit(this.#rest.charCodeAt(end))) end++
    const digits = this.#rest.slice(1, Math.min(end, 10))
    this.#rest = this.#rest.slice(end)
    return Number(digits.padEnd(9, '0'))
  }

  #sixDigits(): number {
    const match = /^[.,](\d{6})/.exec(this.#rest.slice(0, 7))
    if (!match) return this.#fail('.000000')
    this.#rest = this.#rest.slice(7)
    return Number(match[1]) * 1000
  }

  // In minutes east of Greenwich.
  #zone(): number {
    if (this.#rest[0] === 'Z') {
      this.#rest = this.#rest.slice(1)
      return 0
    }
    const match = /^([^\u0080-\uffff])(\d\d):(..)/.exec(this.#rest.slice(0, 6))
    if (!match) return this.#fail('Z07:00')
    const [, sign, hours, minutes] = match as unknown as [string, string, string, string]
    // A number that is out of range is reported before anything else about the zone, the minute before the hour.
    if (Number(minutes) > 60) this.#refuse('time zone offset minute out of range')
    if (Number(hours) > 24) this.#refuse('time zone offset hour out of range')
    if ((sign !== '+' && sign !== '-') || !/^\d\d$/.test(minutes)) this.#fail('Z07:00')
    this.#rest = this.#rest.slice(6)
    return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  }

  #fail(element: string): never {
    const what = `cannot parse ${timeQuote(this.#rest)} as ${timeQuote(element)}`
    throw new MachineryError(
      'BadTime',
      `parsing time ${timeQuote(this.#text)} as ${timeQuote(this.#layout)}: ${what}`,
    )
  }

  #refuse(reason: string): never {
    throw new MachineryError('BadTime', `parsing time ${timeQuote(this.#text)}: ${reason}`)
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function startOfDay(year: number, month: number, day: number): number {
  // Date.UTC takes years below 100 for those of the last century; 400 years later the calendar is the same.
  return Date.UTC(year + 400, month - 1, day) - 146_097 * 86_400_000
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}
