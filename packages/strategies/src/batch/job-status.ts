import type { Job, JobSpec, JobStatus } from '@coxswain/api/batch/v1'
import * as field from '@coxswain/apimachinery/field'
import { deepEqual } from '@coxswain/apimachinery/json'
import { specOf } from '../apps/defaults.ts'
import { validateNonnegatives } from '../apps/template.ts'
import type { Decoded } from '../decoded.ts'
import { goValue } from '../shared/go-value.ts'
import { type Findings, numberOf, printed } from '../shared/reading.ts'
import { countIndexes, findOverlap } from './indexes.ts'

const path = field.Path.of('status')
const conditionsPath = path.child('conditions')

export function isConditionTrue(status: Decoded<JobStatus>, type: string): boolean {
  return (status.conditions ?? []).some(condition => condition.type === type && condition.status === 'True')
}

/** The parts of a Job that the rules of its status read. */
interface JobState {
  readonly status: Decoded<JobStatus>
  readonly complete: boolean
  readonly failed: boolean
  readonly finished: boolean
  readonly failureTarget: boolean
  readonly successMet: boolean
}

function stateOf(job: Decoded<Job>): JobState {
  const status = job.status ?? {}
  const complete = isConditionTrue(status, 'Complete')
  const failed = isConditionTrue(status, 'Failed')
  return {
    status,
    complete,
    failed,
    finished: complete || failed,
    failureTarget: isConditionTrue(status, 'FailureTarget'),
    successMet: isConditionTrue(status, 'SuccessCriteriaMet'),
  }
}

/** The rules of a Job's status. Fields that have not changed are not validated again. */
export function* validateJobStatus(job: Decoded<Job>, oldJob: Decoded<Job>): Findings {
  const now = stateOf(job)
  const before = stateOf(oldJob)
  yield* validateNonnegatives(now.status, ['active', 'succeeded', 'failed', 'ready', 'terminating'], path)
  yield* validateUncounted(now.status)
  yield* validateConditions(now, before)
  yield* validateTimes(now, before, specOf(job))
  yield* validateFinished(now, before)
  yield* validateIndexes(now, before, specOf(job))
  yield* validateProgress(now, before, specOf(job))
}

type Condition = Exclude<keyof JobState, 'status'>

/** Whether one of these conditions or members of the status is not what it was. */
const changed = (
  now: JobState,
  before: JobState,
  ...members: (Condition | keyof Decoded<JobStatus>)[]
): boolean => members.some(member => !deepEqual(valueIn(now, member), valueIn(before, member)))

const valueIn = (state: JobState, member: Condition | keyof Decoded<JobStatus>): unknown =>
  isCondition(state, member) ? state[member] : (state.status[member] ?? null)

const isCondition = (state: JobState, member: string): member is Condition =>
  member in state && member !== 'status'

function* validateUncounted(status: Decoded<JobStatus>): Findings {
  const seen = new Set<string>()
  const uncounted = status.uncountedTerminatedPods ?? {}
  for (const kind of ['succeeded', 'failed'] as const) {
    for (const [index, uid] of (uncounted[kind] ?? []).entries()) {
      const at = path.child('uncountedTerminatedPods', kind).index(index)
      if (uid === '') yield field.invalid(at, uid, 'must not be empty')
      else if (seen.has(uid)) yield field.duplicate(at, uid)
      seen.add(uid)
    }
  }
}

const wrong = (message: string) => field.invalid(conditionsPath, field.omitValue, message)

function* validateConditions(now: JobState, before: JobState): Findings {
  if (changed(now, before, 'complete', 'failed') && now.complete && now.failed)
    yield wrong('cannot set Complete=True and Failed=true conditions')
  if (changed(now, before, 'complete', 'failureTarget') && now.complete && now.failureTarget)
    yield wrong('cannot set Complete=True and FailureTarget=true conditions')
  if (changed(now, before, 'failed', 'failedIndexes') && now.failed && !now.failureTarget)
    yield wrong('cannot set Failed=True condition without the FailureTarget=true condition')
  if (changed(now, before, 'complete', 'successMet') && now.complete && !now.successMet)
    yield wrong('cannot set Complete=True condition without the SuccessCriteriaMet=true condition')
  if (now.successMet && now.failed)
    yield wrong('cannot set SuccessCriteriaMet=True and Failed=true conditions')
  if (now.successMet && now.failureTarget)
    yield wrong('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions')
}

function* validateTimes(now: JobState, before: JobState, spec: Decoded<JobSpec>): Findings {
  const { startTime, completionTime } = now.status
  const at = path.child('completionTime')
  if (changed(now, before, 'complete', 'completionTime')) {
    if (completionTime !== undefined && !now.complete)
      yield field.invalid(
        at,
        completionTime,
        'cannot set completionTime when there is no Complete=True condition',
      )
    if (completionTime === undefined && now.complete)
      yield field.required(at, 'completionTime is required for Complete jobs')
  }
  if (
    changed(now, before, 'startTime', 'completionTime') &&
    startTime !== undefined &&
    completionTime !== undefined
  ) {
    if (Date.parse(completionTime ?? '') < Date.parse(startTime ?? ''))
      yield field.invalid(at, completionTime, 'must be equal to or after `startTime`')
  }
  const idle = spec.suspend === true && spec.completions === 0
  if (changed(now, before, 'finished', 'startTime') && !idle && now.finished && startTime === undefined)
    yield field.required(path.child('startTime'), 'startTime is required for finished job')
}

function* validateFinished(now: JobState, before: JobState): Findings {
  const { active, terminating, uncountedTerminatedPods } = now.status
  if (changed(now, before, 'finished', 'active') && now.finished && numberOf(active) > 0)
    yield field.invalid(path.child('active'), active, 'active>0 is invalid for finished job')
  const uncounted = uncountedTerminatedPods ?? {}
  const left = (uncounted.succeeded ?? []).length + (uncounted.failed ?? []).length
  if (changed(now, before, 'finished', 'uncountedTerminatedPods') && now.finished && left > 0) {
    const shown = printed(goValue('batch.UncountedTerminatedPods', uncounted))
    yield field.invalid(path.child('uncountedTerminatedPods'), shown, 'must be empty for finished job')
  }
  if (changed(now, before, 'finished', 'terminating') && now.finished && numberOf(terminating) > 0)
    yield field.invalid(path.child('terminating'), terminating, 'terminating>0 is invalid for finished job')
  if (changed(now, before, 'ready', 'active') && numberOf(now.status.ready) > numberOf(active))
    yield field.invalid(path.child('ready'), now.status.ready, 'cannot set more ready pods than active')
}

function* validateIndexes(now: JobState, before: JobState, spec: Decoded<JobSpec>): Findings {
  const completed = now.status.completedIndexes ?? ''
  const failed = now.status.failedIndexes
  const completions = spec.completions === undefined ? undefined : numberOf(spec.completions)
  const completedChanged = changed(now, before, 'completedIndexes')
  const failedChanged = changed(now, before, 'failedIndexes')
  const completedPath = path.child('completedIndexes')
  const failedPath = path.child('failedIndexes')
  if (completedChanged && completions !== undefined) {
    const counted = countIndexes(completed, completions)
    if (typeof counted === 'string')
      yield field.invalid(completedPath, completed, `error parsing completedIndexes: ${counted}`)
  }
  if (
    failedChanged &&
    completions !== undefined &&
    spec.backoffLimitPerIndex !== undefined &&
    failed !== undefined
  ) {
    const counted = countIndexes(failed ?? '', completions)
    if (typeof counted === 'string')
      yield field.invalid(failedPath, failed, `error parsing failedIndexes: ${counted}`)
  }
  if (completedChanged && completed !== '' && spec.completionMode !== 'Indexed') {
    const message = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    yield field.invalid(completedPath, completed, message)
  }
  if (failedChanged && failed !== undefined && spec.backoffLimitPerIndex === undefined)
    yield field.invalid(
      failedPath,
      failed,
      'cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    )
  if ((completedChanged || failedChanged) && completions !== undefined && failed !== undefined) {
    const overlap = findOverlap(completed, failed ?? '', completions)
    if (overlap !== undefined) {
      const message = `failedIndexes and completedIndexes overlap at index: ${overlap}`
      yield field.invalid(failedPath, failed, message)
    }
  }
}

/** Finished conditions stay, and counts do not decrease. */
function* validateProgress(now: JobState, before: JobState, spec: Decoded<JobSpec>): Findings {
  if (spec.successPolicy !== undefined && !now.successMet && now.complete)
    yield wrong('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True')
  const terminal: readonly [string, boolean, boolean][] = [
    ['Failed', before.failed, now.failed],
    ['Complete', before.complete, now.complete],
    ['FailureTarget', before.failureTarget, now.failureTarget],
  ]
  for (const [type, was, is] of terminal)
    if (was && !is) yield wrong(`cannot disable the terminal ${type}=True condition`)
  const less = (member: 'failed' | 'succeeded') =>
    numberOf(now.status[member]) < numberOf(before.status[member])
  if (less('failed'))
    yield field.invalid(
      path.child('failed'),
      numberOf(now.status.failed),
      'cannot decrease the failed counter',
    )
  const canScale = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (!canScale && less('succeeded')) {
    const message = 'cannot decrease the succeeded counter'
    yield field.invalid(path.child('succeeded'), numberOf(now.status.succeeded), message)
  }
  const { completionTime, startTime } = now.status
  const old = before.status
  if (
    completionTime !== undefined &&
    old.completionTime !== undefined &&
    completionTime !== old.completionTime
  )
    yield field.invalid(path.child('completionTime'), completionTime, 'field is immutable')
  const resumes =
    isConditionTrue(old, 'Suspended') &&
    (now.status.conditions ?? []).some(({ type, status }) => type === 'Suspended' && status === 'False')
  if (old.startTime !== undefined && startTime !== old.startTime && !resumes && spec.suspend !== true) {
    const message = 'field is immutable for unsuspended job once set'
    yield field.invalid(path.child('startTime'), startTime ?? null, message)
  }
  if (before.successMet && !now.successMet)
    yield wrong('cannot disable the SuccessCriteriaMet=True condition')
  if (before.complete && !before.successMet && now.successMet)
    yield wrong('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions')
}
