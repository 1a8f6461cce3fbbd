import { parseTime } from '../time/time.ts'
import { malformed } from './malformed.ts'

/** Seconds and nanoseconds since 1970; undefined for Go's zero time. */
export interface Instant {
  readonly seconds: number
  readonly nanos: number
}

/** 0001-01-01T00:00:00Z, Go's zero time. */
const zeroSeconds = -62_135_596_800

/** Parses an RFC 3339 time with its full precision. */
export function parseInstant(text: string): Instant | undefined {
  try {
    const { milliseconds, nanoseconds } = parseTime(text)
    const seconds = Math.floor(milliseconds / 1000)
    const nanos = (milliseconds - seconds * 1000) * 1e6 + nanoseconds
    return seconds === zeroSeconds && nanos === 0 ? undefined : { seconds, nanos }
  } catch {
    throw malformed(`not an RFC 3339 time: ${JSON.stringify(text)}`)
  }
}

/** `2006-01-02T15:04:05Z`, as metav1.Time is written. */
export function formatTime(seconds: number): string {
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) throw malformed(`time out of range: ${seconds}`)
  return date.toISOString().replace('.000Z', 'Z')
}

/** `2006-01-02T15:04:05.000000Z`, as metav1.MicroTime is written. */
export function formatMicroTime({ seconds, nanos }: Instant): string {
  const micros = String(Math.floor(nanos / 1000)).padStart(6, '0')
  return formatTime(seconds).replace('Z', `.${micros}Z`)
}
