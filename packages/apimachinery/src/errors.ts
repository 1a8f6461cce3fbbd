import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

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

/**
 * An error of this package that is not a response of a server (which is a `StatusError`). Check its
 * `code`, never its message: messages are Kubernetes' own where it has some.
 */
export class MachineryError extends CodedError<MachineryErrorCode> {
  override readonly name: string = 'MachineryError'
}

/** True also for an error of another copy of this package. With `code`, only for that code. */
export const isMachineryError: IsError<MachineryError> = brandErrors(
  MachineryError,
  'coxswain.apimachinery.MachineryError',
)

/** Several errors as upstream's aggregate prints them: each text once, in brackets when there is more than one. */
export function joinErrors(errors: Iterable<string>): string {
  const texts = [...new Set(errors)]
  return texts.length > 1 ? `[${texts.join(', ')}]` : (texts[0] ?? '')
}
