import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** The codes of {@link InformerError}. */
export type InformerErrorCode =
  /** A watch delivered an invalid event, or a list an invalid response. */
  | 'BadEvent'
  /** The requested index does not exist. */
  | 'UnknownIndex'
  /** An index of that name exists with another function. */
  | 'DuplicateIndex'
  /** A cached object, which is read-only, was changed. */
  | 'ObjectMutated'

/** An error of this package, besides those of a {@link ListerWatcher}. Callers decide by `code`. */
export class InformerError extends CodedError<InformerErrorCode> {
  override readonly name: string = 'InformerError'
}

/** True also for an error of another copy of this package. With `code`, only for that code. */
export const isInformerError: IsError<InformerError> = brandErrors(
  InformerError,
  'coxswain.informers.InformerError',
)
