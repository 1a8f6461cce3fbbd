// Not the whole of kit: each thread of the sqlite store loads this file.
import { brandErrors, CodedError, type IsError } from '@coxswain/kit/errors'

/** Why a store operation failed. The package README says what to do about each. */
export type StoreErrorCode =
  | 'Compacted'
  | 'FutureRevision'
  | 'SlowWatcher'
  | 'Closed'
  | 'Failed'
  | 'NoSpace'
  | 'Unavailable'
  | 'UnknownOutcome'
  | 'InvalidArgument'
  | 'TooLarge'
  | 'Corrupt'
  | 'Locked'
  | 'NewerFormat'

/** Every code, for tests and documentation. */
export const storeErrorCodes: readonly StoreErrorCode[] = [
  'Compacted',
  'FutureRevision',
  'SlowWatcher',
  'Closed',
  'Failed',
  'NoSpace',
  'Unavailable',
  'UnknownOutcome',
  'InvalidArgument',
  'TooLarge',
  'Corrupt',
  'Locked',
  'NewerFormat',
]

/** The cause of a StoreError and what else is known of it. */
export interface StoreErrorOptions {
  readonly cause?: unknown
  /** With `Compacted`: the oldest revision that can still be read, if it is known. */
  readonly compactedRevision?: number
}

/** Check with {@link isStoreError}, never with `instanceof`: two copies of the package may be loaded. */
export class StoreError extends CodedError<StoreErrorCode> {
  override readonly name = 'StoreError'
  readonly compactedRevision: number | undefined

  constructor(code: StoreErrorCode, message: string, options: StoreErrorOptions = {}) {
    super(code, message, 'cause' in options ? { cause: options.cause } : undefined)
    this.compactedRevision = options.compactedRevision
  }
}

/** With `code`, only for that code. */
export const isStoreError: IsError<StoreError> = brandErrors(StoreError, 'coxswain.StoreError')

/** The requested revision was compacted: read the current state and continue from there. */
export function isCompacted(error: unknown): error is StoreError {
  return isStoreError(error, 'Compacted')
}

/** The requested revision does not exist yet. */
export function isFutureRevision(error: unknown): error is StoreError {
  return isStoreError(error, 'FutureRevision')
}

/** The consumer of a watch lags too far behind: resume the watch where it stopped, or read again. */
export function isSlowWatcher(error: unknown): error is StoreError {
  return isStoreError(error, 'SlowWatcher')
}

/** The write may or may not have happened, now or later: read before retrying. */
export function isUnknownOutcome(error: unknown): error is StoreError {
  return isStoreError(error, 'UnknownOutcome')
}

export function createCompacted(revision: number, compactedRevision?: number): StoreError {
  const since = compactedRevision === undefined ? '' : `, the oldest kept is ${compactedRevision}`
  return new StoreError('Compacted', `revision ${revision} has been compacted${since}`, {
    ...(compactedRevision === undefined ? {} : { compactedRevision }),
  })
}

export function createFutureRevision(revision: number, present: number): StoreError {
  return new StoreError('FutureRevision', `revision ${revision} does not exist yet, the newest is ${present}`)
}

export function createClosed(): StoreError {
  return new StoreError('Closed', 'the store is closed')
}
