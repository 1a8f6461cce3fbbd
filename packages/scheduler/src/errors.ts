export type SchedulerErrorCode =
  /** A KubeSchedulerConfiguration that cannot be used; the message is upstream's. */
  'BadConfiguration'

const brand = Symbol.for('coxswain.scheduler.SchedulerError')

/** What this package throws besides what the client throws. Callers decide by `code`. */
export class SchedulerError extends Error {
  readonly code: SchedulerErrorCode

  constructor(code: SchedulerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SchedulerError'
    this.code = code
  }
}

Object.defineProperty(SchedulerError.prototype, brand, { value: true })

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export function isSchedulerError(error: unknown, code?: SchedulerErrorCode): error is SchedulerError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || (error as { code?: unknown }).code === code
}

export function badConfiguration(message: string, cause?: unknown): SchedulerError {
  return new SchedulerError('BadConfiguration', message, cause === undefined ? undefined : { cause })
}
