import type { CronJob, CronJobSpec, JobSpec } from '@coxswain/api/batch/v1'
import { isTimeZone } from '@coxswain/apimachinery/cron'
import * as field from '@coxswain/apimachinery/field'
import { formatHumanDuration } from '@coxswain/apimachinery/time'
import { defaultTemplate, specOf } from '../apps/defaults.ts'
import { validateNonnegatives } from '../apps/template.ts'
import { nameWarnings } from '../apps/warnings.ts'
import type { Decoded } from '../decoded.ts'
import { defineStrategy } from '../define-strategy.ts'
import { ageCell, nameCell } from '../shared/cells.ts'
import { childOf, fill } from '../shared/members.ts'
import { type Findings, printed, validateChoice } from '../shared/reading.ts'
import { containerCells, selectorCell } from '../shared/workload-cells.ts'
import type { Strategy, TableCells } from '../strategy.ts'
import { scheduleProblem } from './cron-schedule.ts'
import { defaultConditionPatterns, jobSpecWarnings } from './job.ts'
import { validateJobSpec } from './job-spec.ts'

const specPath = field.Path.of('spec')
const jobPath = specPath.child('jobTemplate', 'spec')
/** Leaves room for the timestamp at the end of each Job's name. */
const maxName = 52

export const cronJobStrategy: Strategy = defineStrategy<CronJob>({
  cells: printCronJob,
  generation: true,
  default(object) {
    const spec = specOf(object)
    fill(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    })
    if (spec.jobTemplate) defaultJobTemplate(childOf(spec.jobTemplate, 'spec'))
  },
  *validate(object, _context, old) {
    const name = object.metadata.name ?? ''
    const spec = specOf(object)
    yield* validateCronJob(spec)
    if (old) return
    yield* validateZoneInSchedule(spec, false)
    yield* validateTimeZone(spec.timeZone)
    if (name.length > maxName) {
      const message = `must be no more than ${maxName} characters`
      yield field.invalid(field.Path.of('metadata', 'name'), name, message)
    }
  },
  validateUpdate(object, old) {
    const spec = specOf(object)
    const before = specOf(old)
    return [
      ...validateZoneInSchedule(spec, (before.schedule ?? '').includes('TZ')),
      ...(spec.timeZone === before.timeZone ? [] : validateTimeZone(spec.timeZone)),
    ]
  },
  *warnings(object, old) {
    const spec = specOf(object)
    const changed = !old || object.metadata.generation !== old.metadata.generation
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    if (changed) yield* jobSpecWarnings(spec.jobTemplate?.spec ?? {}, jobPath)
    if (old && (spec.schedule ?? '').includes('TZ'))
      yield 'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
  },
})

/** Only the Pod template and the failure policy get defaults here; the others are set when the Job is created. */
function defaultJobTemplate(spec: Decoded<JobSpec>): void {
  defaultConditionPatterns(spec)
  defaultTemplate(spec)
}

function* validateCronJob(spec: Decoded<CronJobSpec>): Findings {
  const schedule = spec.schedule ?? ''
  const at = specPath.child('schedule')
  if (schedule === '') yield field.required(at)
  else {
    const problem = scheduleProblem(schedule)
    if (problem !== undefined) yield field.invalid(at, schedule, problem)
  }
  yield* validateNonnegatives(spec, ['startingDeadlineSeconds'], specPath)
  const policies = ['Allow', 'Forbid', 'Replace']
  yield* validateChoice(spec.concurrencyPolicy, policies, specPath.child('concurrencyPolicy'))
  const job = spec.jobTemplate?.spec ?? {}
  yield* validateJobSpec(job, jobPath)
  if (job.selector !== undefined)
    yield field.invalid(jobPath.child('selector'), printed(job.selector), '`selector` will be auto-generated')
  if (job.manualSelector === true)
    yield field.notSupported(jobPath.child('manualSelector'), true, ['nil', 'false'])
  yield* validateNonnegatives(spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], specPath)
}

/** A time zone in the schedule is allowed only if the stored object has one. */
function* validateZoneInSchedule(spec: Decoded<CronJobSpec>, tolerated: boolean): Findings {
  const schedule = spec.schedule ?? ''
  if (!schedule.includes('TZ')) return
  const at = specPath.child('schedule')
  if (!tolerated)
    yield field.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')
  else if (spec.timeZone !== undefined)
    yield field.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')
}

function* validateTimeZone(zone: string | null | undefined): Findings {
  if (zone === undefined) return
  const name = zone ?? ''
  const at = specPath.child('timeZone')
  if (name === '') {
    yield field.invalid(at, name, 'timeZone must be nil or non-empty string')
    return
  }
  const isPart = (part: string) =>
    part !== '.' && part !== '..' && !part.startsWith('-') && /^[A-Za-z.\-_0-9+]{1,14}$/.test(part)
  if (!name.split('/').every(isPart)) {
    yield field.invalid(at, name, `unknown time zone ${name}`)
    return
  }
  if (name.toLowerCase() === 'local') {
    const message = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'
    yield field.invalid(at, name, message)
  }
  if (name !== 'Local' && !isTimeZone(name)) yield field.invalid(at, name, `unknown time zone ${name}`)
}

function printCronJob(object: Decoded<CronJob>, now: number): TableCells {
  const spec = object.spec ?? {}
  const status = object.status ?? {}
  const last = status.lastScheduleTime ?? ''
  const suspend = spec.suspend === undefined ? '<unset>' : spec.suspend === true ? 'True' : 'False'
  return {
    Name: nameCell(object),
    Schedule: spec.schedule ?? '',
    Timezone: (spec.timeZone ?? '') || '<none>',
    Suspend: suspend,
    Active: (status.active ?? []).length,
    'Last Schedule': last === '' ? '<none>' : formatHumanDuration(now - Date.parse(last)),
    Age: ageCell(object, now),
    ...containerCells(spec.jobTemplate?.spec?.template),
    Selector: selectorCell(spec.jobTemplate?.spec?.selector),
  }
}
