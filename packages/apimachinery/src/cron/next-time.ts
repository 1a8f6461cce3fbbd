import type { CronSchedule } from './cron-schedule.ts'
import { offsetAt } from './time-zone.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** A schedule without a match in this many days has none: the 31st of February. */
const horizon = 5 * 366

type Fields = Extract<CronSchedule, { readonly type: 'fields' }>

/**
 * The first time after `after` that matches a schedule, in milliseconds; undefined when there is none within five years.
 * A clock that is set forward skips the times in between, one that is set back sees them twice.
 */
export function nextCronTime(schedule: CronSchedule, after: number): number | undefined {
  const second = Math.floor(after / 1_000) * 1_000
  if (schedule.type === 'every') return second + schedule.period
  const start = Math.ceil((second + 1_000) / minute) * minute
  const today = localDay(schedule.zone, start)
  for (let index = 0; index < horizon; index++) {
    const date = today + index * day
    if (!isDayMeant(schedule, new Date(date))) continue
    const found = findInDay(schedule, date, index === 0 ? start : beginningOf(schedule.zone, date))
    if (found !== undefined) return found
  }
  return undefined
}

/** The day that clocks in the zone show, as its midnight in UTC. */
function localDay(zone: string, instant: number): number {
  return Math.floor((instant + offsetAt(zone, instant)) / day) * day
}

/** When a day begins in the zone: not everywhere and always at midnight. */
function beginningOf(zone: string, date: number): number {
  const guess = date - offsetAt(zone, date)
  let instant = date - offsetAt(zone, guess)
  while (localDay(zone, instant) < date) instant += hour
  return instant
}

function isDayMeant({ months, days, weekdays, isEitherDay }: Fields, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false
  const isDay = days.has(date.getUTCDate())
  const isWeekday = weekdays.has(date.getUTCDay())
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday
}

function findInDay({ zone, hours, minutes }: Fields, date: number, from: number): number | undefined {
  let instant = from
  while (localDay(zone, instant) === date) {
    const local = new Date(instant + offsetAt(zone, instant))
    const shown = local.getUTCMinutes()
    if (hours.has(local.getUTCHours())) {
      for (let candidate = shown; candidate < 60; candidate++)
        if (minutes.has(candidate)) return instant + (candidate - shown) * minute
    }
    instant += (60 - shown) * minute
  }
  return undefined
}
