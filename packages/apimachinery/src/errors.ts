/**
 * Every code a {@link MachineryError} can carry. The package README says for each one when it is thrown; a code, once
 * published, keeps its meaning.
 */
export type MachineryErrorCode =
  | 'BadGroupVersion'
  | 'BadKey'
  | 'BadSelector'
  | 'BadQuantity'
  | 'BadIntOrString'
  | 'BadTime'
  | 'BadDuration'
  | 'BadFieldPath'
  | 'KindConflict'
  | 'KindNotRegistered'
  | 'ConversionMissing'
  | 'FieldLabelNotSupported'
  | 'NoMatch'
  | 'AmbiguousMatch'
  | 'BadJson'
  | 'JsonTooLarge'
  | 'BadYaml'
  | 'BadKind'
  | 'TooDeep'
  | 'OwnerScope'
  | 'AlreadyOwned'
  | 'BadProtobuf'
  | 'PatchUndecodable'
  | 'PatchTooLarge'
  | 'PatchInapplicable'
  | 'PatchConflict'
  | 'PatchPrecondition'

const brand = Symbol.for('coxswain.apimachinery.MachineryError')

/**
 * What this package throws when it is not about an answer of a server (that is a `StatusError`). Callers decide by
 * `code`, never by message: messages are Kubernetes' own words where Kubernetes has some.
 */
export class MachineryError extends Error {
  readonly code: MachineryErrorCode

  constructor(code: MachineryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MachineryError'
    this.code = code
  }
}

Object.defineProperty(MachineryError.prototype, brand, { value: true })

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export function isMachineryError(error: unknown, code?: MachineryErrorCode): error is MachineryError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || (error as { code?: unknown }).code === code
}
