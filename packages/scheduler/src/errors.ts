import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** The codes of {@link SchedulerError}. */
export type SchedulerErrorCode =
  /** An invalid KubeSchedulerConfiguration; the message is upstream's. */
  'BadConfiguration'

/** An error of this package. Callers decide by `code`. */
export class SchedulerError extends CodedError<SchedulerErrorCode> {
  override readonly name: string = 'SchedulerError'
}

/** True also for an error of another copy of this package. With `code`, only for that code. */
export const isSchedulerError: IsError<SchedulerError> = brandErrors(
  SchedulerError,
  'coxswain.scheduler.SchedulerError',
)

export function badConfiguration(message: string, cause?: unknown): SchedulerError {
  return new SchedulerError('BadConfiguration', message, cause === undefined ? undefined : { cause })
}
