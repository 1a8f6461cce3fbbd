import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

export type RuntimeErrorCode =
  /** A definition that contradicts itself: two controllers of one name, `owns` without `for`. */
  | 'BadDefinition'
  /** A cached list by a field that no index covers. */
  | 'NoIndex'
  /** The caches were not filled within the time the host gave them. */
  | 'CacheNotSynced'
  /** A reconcile took longer than its timeout. */
  | 'ReconcileTimeout'
  /** Another replica leads now, or may lead: this one has stopped. */
  | 'LeadershipLost'
  /** A write was held back because this replica's lease may have ended. */
  | 'NotLeader'
  /** Something did not stop within the grace period. */
  | 'ShutdownTimeout'
  /** A CustomResourceDefinition was not written: objects that are stored would be lost, or others manage it. */
  | 'UnsafeInstall'
  /** A reconcile failed in a way that trying again cannot mend. */
  | 'Terminal'

/** What this package throws besides what the client throws. Callers decide by `code`. */
export class RuntimeError extends CodedError<RuntimeErrorCode> {
  override readonly name: string = 'RuntimeError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isRuntimeError: IsError<RuntimeError> = brandErrors(
  RuntimeError,
  'coxswain.runtime.RuntimeError',
)

/**
 * Thrown by a reconcile when trying again is of no use: it is logged and counted, and the object is looked at again only
 * when something happens to it.
 */
export class TerminalError extends RuntimeError {
  override readonly name = 'TerminalError'

  constructor(message: string, options?: ErrorOptions) {
    super('Terminal', message, options)
  }
}
