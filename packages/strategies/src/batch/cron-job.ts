import { isTimeZone } from '@coxswain/apimachinery/cron'
import * as field from '@coxswain/apimachinery/field'
import { childObject, isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { nameWarnings } from '../apps/apps.ts'
import { cronJobCells } from '../apps/cells.ts'
import { defaultTemplate, fill, specOf } from '../apps/defaults.ts'
import { validateNonnegatives } from '../apps/template.ts'
import { type Findings, objectOf, printed, textOf, validateChoice } from '../shared/reading.ts'
import type { Strategy } from '../strategy.ts'
import { scheduleProblem } from './cron-schedule.ts'
import { defaultConditionPatterns, jobSpecWarnings } from './job.ts'
import { validateJobSpec } from './job-spec.ts'

const specPath = field.Path.of('spec')
const jobPath = specPath.child('jobTemplate', 'spec')
/** Room for the time that the name of each job ends with. */
const maxName = 52

export const cronJobStrategy: Strategy = {
  cells: cronJobCells,
  generation: true,
  default(object) {
    const spec = specOf(object)
    fill(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    })
    if (isObject(spec.jobTemplate)) defaultJobTemplate(childObject(spec.jobTemplate, 'spec'))
  },
  *validate(object, _context, old) {
    const name = textOf(objectOf(object.metadata).name)
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
      ...validateZoneInSchedule(spec, textOf(before.schedule).includes('TZ')),
      ...(spec.timeZone === before.timeZone ? [] : validateTimeZone(spec.timeZone)),
    ]
  },
  *warnings(object, old) {
    const spec = specOf(object)
    const changed = !old || objectOf(object.metadata).generation !== objectOf(old.metadata).generation
    if (!old) yield* nameWarnings(object, 'Pod names and hostnames')
    if (changed) yield* jobSpecWarnings(objectOf(objectOf(spec.jobTemplate).spec), jobPath)
    if (old && textOf(spec.schedule).includes('TZ'))
      yield 'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
  },
}

/** The job's own defaults come when the job is made; its pods are described in full already. */
function defaultJobTemplate(spec: JsonObject): void {
  defaultConditionPatterns(spec)
  defaultTemplate(spec)
}

function* validateCronJob(spec: JsonObject): Findings {
  const schedule = textOf(spec.schedule)
  const at = specPath.child('schedule')
  if (schedule === '') yield field.required(at)
  else {
    const problem = scheduleProblem(schedule)
    if (problem !== undefined) yield field.invalid(at, schedule, problem)
  }
  yield* validateNonnegatives(spec, ['startingDeadlineSeconds'], specPath)
  const policies = ['Allow', 'Forbid', 'Replace']
  yield* validateChoice(spec.concurrencyPolicy, policies, specPath.child('concurrencyPolicy'))
  const job = objectOf(objectOf(spec.jobTemplate).spec)
  yield* validateJobSpec(job, jobPath)
  if (job.selector !== undefined)
    yield field.invalid(jobPath.child('selector'), printed(job.selector), '`selector` will be auto-generated')
  if (job.manualSelector === true)
    yield field.notSupported(jobPath.child('manualSelector'), true, ['nil', 'false'])
  yield* validateNonnegatives(spec, ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'], specPath)
}

/** A zone in the schedule itself is tolerated only where it has been before. */
function* validateZoneInSchedule(spec: JsonObject, tolerated: boolean): Findings {
  const schedule = textOf(spec.schedule)
  if (!schedule.includes('TZ')) return
  const at = specPath.child('schedule')
  if (!tolerated)
    yield field.invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')
  else if (spec.timeZone !== undefined)
    yield field.invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')
}

function* validateTimeZone(zone: unknown): Findings {
  if (zone === undefined) return
  const name = textOf(zone)
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
