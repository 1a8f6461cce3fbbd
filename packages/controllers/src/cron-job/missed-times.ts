import type { CronJob } from '@coxswain/api/batch/v1'
import { type CronSchedule, nextCronTime } from '@coxswain/apimachinery/cron'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export type CronJobView = DeepReadonly<CronJob>

/** Milliseconds added to the next start, to allow for clock skew. */
const delta = 100
/** Missing more starts than this is reported. */
const many = 100

interface Missed {
  /** Starts are searched from this time on. */
  readonly since: number
  /** The latest missed start; undefined if none is due. */
  readonly latest?: number
  readonly count: number
}

/** Finds the starts that a schedule has missed; a string if the schedule is invalid. */
export function findMissed(
  { metadata, spec, status }: CronJobView,
  schedule: CronSchedule,
  now: number,
  options: { readonly withDeadline: boolean },
): Missed | string {
  let since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '')
  const deadline = spec?.startingDeadlineSeconds
  if (options.withDeadline && deadline !== undefined) since = Math.max(since, now - Number(deadline) * 1_000)
  const first = nextCronTime(schedule, since)
  if (first !== undefined && now < first) return { since, count: 0 }
  const second = first === undefined ? undefined : nextCronTime(schedule, first)
  if (first === undefined || second === undefined)
    return 'time difference between two schedules is less than 1 second'
  if (now < second) return { since, latest: first, count: 1 }
  // An estimate: schedules need not be regular. Counting begins one period early so that no start is missed.
  const period = second - first
  const count = Math.floor((now - first) / period) + 1
  let latest: number | undefined
  let time = nextCronTime(schedule, first + (count - 2) * period)
  for (; time !== undefined && time <= now; time = nextCronTime(schedule, time)) latest = time
  return { since, count, ...(latest !== undefined && { latest }) }
}

/** Milliseconds until the next start. */
export function untilNext(cronJob: CronJobView, schedule: CronSchedule, now: number): number | undefined {
  const missed = findMissed(cronJob, schedule, now, { withDeadline: false })
  const from = typeof missed === 'string' ? now : (missed.latest ?? (missed.count === 0 ? missed.since : now))
  const next = nextCronTime(schedule, from)
  return next === undefined ? undefined : Math.max(0, next + delta - now)
}

export function isTooMany({ count }: { readonly count: number }): boolean {
  return count > many
}
