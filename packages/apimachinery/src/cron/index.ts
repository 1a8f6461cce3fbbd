/** Cron schedules and time zones, as CronJobs have them. */
export { type CronSchedule, parseCronSchedule } from './cron-schedule.ts'
export { nextCronTime } from './next-time.ts'
export { formatInZone, isTimeZone, offsetAt } from './time-zone.ts'
