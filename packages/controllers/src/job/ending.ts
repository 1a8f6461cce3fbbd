import { findStatusCondition } from '@coxswain/apimachinery/meta'
import { containerStatusesOf, type PodView } from '@coxswain/kinds'
import { judgeFailure } from './failure-policy.ts'
import { countIndexes } from './indexes.ts'
import { isFailed, isSuspended, type JobView } from './job-pods.ts'
import { matchSuccessPolicy } from './success-policy.ts'
import type { Tally } from './tally.ts'

/** How a job finishes. It is reported in two steps: an interim condition first, the final one when no pod is left. */
export interface Ending {
  readonly isSuccess: boolean
  readonly reason: string
  readonly message: string
  /** Whether the interim condition is already in the status. */
  readonly isReported: boolean
}

const failure = (reason: string, message: string): Ending => ({
  isSuccess: false,
  reason,
  message,
  isReported: false,
})

export const completionsReached: Ending = {
  isSuccess: true,
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
  isReported: false,
}

/** Decides whether the job has to finish while it has pods. A reported decision stands; otherwise failures take precedence over success. */
export function findEnding(
  job: JobView,
  tally: Tally,
  startTime: string | undefined,
  now: number,
): Ending | undefined {
  return reportedEnding(job) ?? findFailure(job, tally, startTime, now) ?? findSuccess(job, tally)
}

function reportedEnding({ status }: JobView): Ending | undefined {
  for (const wanted of ['SuccessCriteriaMet', 'FailureTarget']) {
    const found = findStatusCondition(status?.conditions, wanted)
    if (found?.status !== 'True') continue
    const { reason = '', message = '' } = found
    return { isSuccess: wanted === 'SuccessCriteriaMet', reason, message, isReported: true }
  }
  return undefined
}

function findFailure(
  job: JobView,
  { pods, failed, indexes }: Tally,
  startTime: string | undefined,
  now: number,
): Ending | undefined {
  const { backoffLimit = 6, maxFailedIndexes = Number.POSITIVE_INFINITY, podFailurePolicy } = job.spec ?? {}
  if (podFailurePolicy) {
    for (const pod of pods) {
      const { message } = isFailed(pod, job) ? judgeFailure(job, pod) : {}
      if (message !== undefined) return failure('PodFailurePolicy', message)
    }
  }
  if (failed > backoffLimit || isRestartedTooOften(job, pods, backoffLimit))
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  if (untilDeadline(job, startTime, now) <= 0)
    return failure('DeadlineExceeded', 'Job was active longer than specified deadline')
  if (!indexes?.failed) return undefined
  const failedIndexes = countIndexes(indexes.failed)
  if (failedIndexes > maxFailedIndexes)
    return failure(
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    )
  if (failedIndexes > 0 && failedIndexes + countIndexes(indexes.succeeded) >= indexes.completions)
    return failure('FailedIndexes', 'Job has failed indexes')
  return undefined
}

function findSuccess({ spec }: JobView, { indexes }: Tally): Ending | undefined {
  if (!indexes) return undefined
  const message = matchSuccessPolicy(spec?.successPolicy, indexes.completions, indexes.succeeded)
  return message === undefined
    ? undefined
    : { isSuccess: true, reason: 'SuccessPolicy', message, isReported: false }
}

/** With restart policy OnFailure, container restarts count as failures. */
function isRestartedTooOften({ spec }: JobView, pods: readonly PodView[], limit: number): boolean {
  if (spec?.template.spec?.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
    for (const { restartCount } of containerStatusesOf({ status })) restarts += restartCount
  }
  return limit === 0 ? restarts > 0 : restarts >= limit
}

/** Milliseconds until the active deadline. */
export function untilDeadline(job: JobView, startTime: string | undefined, now: number): number {
  const seconds = job.spec?.activeDeadlineSeconds
  if (seconds === undefined || startTime === undefined || isSuspended(job)) return Number.POSITIVE_INFINITY
  return Date.parse(startTime) + Number(seconds) * 1_000 - now
}
