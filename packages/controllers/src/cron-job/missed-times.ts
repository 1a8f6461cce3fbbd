import type { CronJob } from '@coxswain/api/batch/v1'
import { type CronSchedule, nextCronTime } from '@coxswain/apimachinery/cron'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'

export type CronJobView = DeepReadonly<CronJob>

/** Later than the schedule says, in milliseconds, so that clocks that differ a little do no harm. */
const delta = 100
/** More starts than this missed are worth a word. */
const many = 100

interface Missed {
  /** From when on starts were looked for. */
  readonly since: number
  /** The latest start that should have been; undefined when none is due. */
  readonly latest?: number
  readonly count: number
}

/** What a schedule has had to start since it last did; a text when the schedule makes no sense. */
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
  // Roughly: schedules need not be regular. Counting begins one period early so that none is passed over.
  const period = second - first
  const count = Math.floor((now - first) / period) + 1
  let latest: number | undefined
  let time = nextCronTime(schedule, first + (count - 2) * period)
  for (; time !== undefined && time <= now; time = nextCronTime(schedule, time)) latest = time
  return { since, count, ...(latest !== undefined && { latest }) }
}

/** Milliseconds until the next start, whatever was missed. */
export function untilNext(cronJob: CronJobView, schedule: CronSchedule, now: number): number | undefined {
  const missed = findMissed(cronJob, schedule, now, { withDeadline: false })
  const from = typeof missed === 'string' ? now : (missed.latest ?? (missed.count === 0 ? missed.since : now))
  const next = nextCronTime(schedule, from)
  return next === undefined ? undefined : Math.max(0, next + delta - now)
}

export function isTooMany({ count }: { readonly count: number }): boolean {
  return count > many
}
