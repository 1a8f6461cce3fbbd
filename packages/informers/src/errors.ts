import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

export type InformerErrorCode =
  /** A watch delivered something that is no event, or a list something that is no list. */
  | 'BadEvent'
  /** An index was asked for that nobody added. */
  | 'UnknownIndex'
  /** An index of that name is there already, with another function. */
  | 'DuplicateIndex'
  /** An object in a store was changed by someone who only may read it. */
  | 'ObjectMutated'

/** What this package throws or logs besides what a {@link ListerWatcher} throws. Callers decide by `code`. */
export class InformerError extends CodedError<InformerErrorCode> {
  override readonly name: string = 'InformerError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isInformerError: IsError<InformerError> = brandErrors(
  InformerError,
  'coxswain.informers.InformerError',
)
