import { isMachineryError } from '../errors.ts'
import { parseDuration } from '../time/duration.ts'
import { isTimeZone } from './time-zone.ts'

/** A schedule in a time zone: at certain minutes, or at an interval in milliseconds. */
export type CronSchedule =
  | {
      readonly type: 'fields'
      readonly zone: string
      readonly minutes: ReadonlySet<number>
      readonly hours: ReadonlySet<number>
      readonly days: ReadonlySet<number>
      /** 1 is January. */
      readonly months: ReadonlySet<number>
      /** 0 is Sunday. */
      readonly weekdays: ReadonlySet<number>
      /** Either may match the day, unless one of them is a star: then the other decides. */
      readonly isEitherDay: boolean
    }
  | { readonly type: 'every'; readonly period: number }

export type CronProblem = { readonly type: 'problem'; readonly problem: string }

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const places: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: monthNames },
  { min: 0, max: 6, names: weekdayNames },
]
const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const every = '@every '

const problemOf = (problem: string): CronProblem => ({ type: 'problem', problem })

/** Parses a schedule in cron's five-field notation. Without `TZ=` its time zone is `zone`. */
export function parseCronSchedule(text: string, zone = 'UTC'): CronSchedule | CronProblem {
  const prefix = /^(?:CRON_)?TZ=([^ ]*)( .*)?$/s.exec(text)
  if (prefix) {
    const [, named = '', rest] = prefix
    if (rest === undefined) return problemOf('panic: schedule has a time zone and nothing else')
    if (named !== '' && !isTimeZone(named))
      return problemOf(`provided bad location ${named}: unknown time zone ${named}`)
    return parseCronSchedule(rest.trim(), named || 'UTC')
  }
  if (!text.startsWith('@')) return parseFields(text, zone)
  const meaning = descriptors[text]
  return meaning === undefined ? parseEvery(text) : parseFields(meaning, zone)
}

function parseFields(text: string, zone: string): CronSchedule | CronProblem {
  const fields = text.trim().split(/\s+/).filter(Boolean)
  if (fields.length !== places.length)
    return problemOf(
      `expected exactly ${places.length} fields, found ${fields.length}: [${fields.join(' ')}]`,
    )
  const read: Values[] = []
  for (const [index, bounds] of places.entries()) {
    const values = { set: new Set<number>(), isAny: false }
    for (const expression of fields[index]!.split(',').filter(Boolean)) {
      const problem = addRange(values, expression, bounds)
      if (problem !== undefined) return problemOf(problem)
    }
    read.push(values)
  }
  const [minutes, hours, days, months, weekdays] = read as [Values, Values, Values, Values, Values]
  return {
    type: 'fields',
    zone,
    minutes: minutes.set,
    hours: hours.set,
    days: days.set,
    months: months.set,
    weekdays: weekdays.set,
    isEitherDay: !days.isAny && !weekdays.isAny,
  }
}

function parseEvery(text: string): CronSchedule | CronProblem {
  if (!text.startsWith(every)) return problemOf(`unrecognized descriptor: ${text}`)
  try {
    const seconds = Number(parseDuration(text.slice(every.length)) / 1_000_000_000n)
    return { type: 'every', period: Math.max(1, seconds) * 1_000 }
  } catch (error) {
    if (isMachineryError(error)) return problemOf(`failed to parse duration ${text}: ${error.message}`)
    throw error
  }
}

interface Values {
  readonly set: Set<number>
  /** A star without a step. */
  isAny: boolean
}

/** `*`, `5`, `1-5`, `mon-fri`, each with a step: `0-30/10`. Returns the error text. */
function addRange(values: Values, expression: string, bounds: Bounds): string | undefined {
  const steps = expression.split('/')
  const ends = steps[0]!.split('-')
  const isStar = ends[0] === '*' || ends[0] === '?'
  let { min: start, max: end } = bounds
  if (!isStar) {
    const first = readNumber(ends[0]!, bounds)
    if (typeof first === 'string') return first
    if (ends.length > 2) return `too many hyphens: ${expression}`
    const last = ends.length === 2 ? readNumber(ends[1]!, bounds) : first
    if (typeof last === 'string') return last
    start = first
    end = last
  }
  let step = 1
  if (steps.length > 2) return `too many slashes: ${expression}`
  if (steps.length === 2) {
    const read = readNumber(steps[1]!, { min: 0, max: 0 })
    if (typeof read === 'string') return read
    step = read
    if (ends.length === 1) end = bounds.max
  }
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  if (step === 0) return `step of range should be a positive number: ${expression}`
  for (let value = start; value <= end; value += step) values.set.add(value)
  if (isStar && step === 1) values.isAny = true
  return undefined
}

function readNumber(text: string, { names, min }: Bounds): number | string {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  if (named >= 0) return named + min
  if (!/^[+-]?[0-9]+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  const number = Number(text)
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number
}
