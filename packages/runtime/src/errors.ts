import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** The codes of {@link RuntimeError}. */
export type RuntimeErrorCode =
  /** An inconsistent definition: two controllers of one name, `owns` without `for`. */
  | 'BadDefinition'
  /** A cached list by a field that no index covers. */
  | 'NoIndex'
  /** The caches did not sync within the host's timeout. */
  | 'CacheNotSynced'
  /** A reconcile took longer than its timeout. */
  | 'ReconcileTimeout'
  /** Another replica leads now, or may lead: this one has stopped. */
  | 'LeadershipLost'
  /** A write was blocked because this replica's lease may have expired. */
  | 'NotLeader'
  /** Something did not stop within the grace period. */
  | 'ShutdownTimeout'
  /** A CustomResourceDefinition was not written: stored objects would be lost, or another manager owns it. */
  | 'UnsafeInstall'
  /** A reconcile failed in a way that a retry cannot fix. */
  | 'Terminal'

/** An error of this package, besides those of the client. Callers decide by `code`. */
export class RuntimeError extends CodedError<RuntimeErrorCode> {
  override readonly name: string = 'RuntimeError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isRuntimeError: IsError<RuntimeError> = brandErrors(
  RuntimeError,
  'coxswain.runtime.RuntimeError',
)

/**
 * Thrown by a reconcile when a retry is pointless: it is logged and counted, and the object is reconciled again only
 * at its next event.
 */
export class TerminalError extends RuntimeError {
  override readonly name = 'TerminalError'

  constructor(message: string, options?: ErrorOptions) {
    super('Terminal', message, options)
  }
}
