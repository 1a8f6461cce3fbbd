export type InformerErrorCode =
  /** A watch delivered something that is no event, or a list something that is no list. */
  | 'BadEvent'
  /** An index was asked for that nobody added. */
  | 'UnknownIndex'
  /** An index of that name is there already, with another function. */
  | 'DuplicateIndex'
  /** An object in a store was changed by someone who only may read it. */
  | 'ObjectMutated'

const brand = Symbol.for('coxswain.informers.InformerError')

/** What this package throws or logs besides what a {@link ListerWatcher} throws. Callers decide by `code`. */
export class InformerError extends Error {
  readonly code: InformerErrorCode

  constructor(code: InformerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'InformerError'
    this.code = code
  }
}

Object.defineProperty(InformerError.prototype, brand, { value: true })

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export function isInformerError(error: unknown, code?: InformerErrorCode): error is InformerError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || (error as { code?: unknown }).code === code
}
