import { malformed } from './reader.ts'

/** Seconds and nanoseconds since 1970; undefined for Go's zero time. */
export interface Instant {
  readonly seconds: number
  readonly nanos: number
}

const form = /^(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
/** 0001-01-01T00:00:00Z, which Go takes for no time at all. */
const zeroSeconds = -62_135_596_800

/** Reads an RFC 3339 time as exactly as it is written. */
export function parseInstant(text: string): Instant | undefined {
  const match = form.exec(text)
  const milliseconds = match ? Date.parse(`${match[1]}${match[3]}`.toUpperCase()) : Number.NaN
  if (Number.isNaN(milliseconds)) throw malformed(`not an RFC 3339 time: ${JSON.stringify(text)}`)
  const seconds = milliseconds / 1000
  const nanos = Number((match?.[2] ?? '').slice(1, 10).padEnd(9, '0'))
  return seconds === zeroSeconds && nanos === 0 ? undefined : { seconds, nanos }
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
