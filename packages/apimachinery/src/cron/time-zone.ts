import { zoneLinks } from './zone-links.ts'

/** By zone name; only known zones get here. */
const formats = new Map<string, Intl.DateTimeFormat>()
let firstNames: ReadonlySet<string> | undefined

function formatFor(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    firstNames ??= new Set(Intl.supportedValuesOf('timeZone'))
    if (!firstNames.has(zone) && !zoneLinks.has(zone)) throw new RangeError(`unknown time zone ${zone}`)
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    formats.set(zone, format)
  }
  return format
}

/** Whether this machine knows a time zone of that name, spelt as in the time zone database: `us/eastern` is unknown, as in Go. */
export function isTimeZone(zone: string): boolean {
  try {
    formatFor(zone)
    return true
  } catch {
    return false
  }
}

/**
 * How many milliseconds a zone is ahead of UTC at an instant.
 * @throws RangeError for an unknown zone
 */
export function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0
  const parts = formatFor(zone).formatToParts(instant)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const match = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name)
  if (!match) return 0
  const seconds = Number(match[2]) * 3_600 + Number(match[3]) * 60 + Number(match[4] ?? 0)
  return (match[1] === '-' ? -seconds : seconds) * 1_000
}

/** An instant as RFC 3339 writes it in a zone: `2026-03-29T03:30:00+02:00`. */
export function formatInZone(zone: string, instant: number): string {
  const offset = offsetAt(zone, instant)
  const local = new Date(instant + offset).toISOString().slice(0, 19)
  if (offset === 0) return `${local}Z`
  const minutes = Math.floor(Math.abs(offset) / 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
