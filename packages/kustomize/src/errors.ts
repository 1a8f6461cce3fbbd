import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** The codes of {@link KustomizeError}. */
export type KustomizeErrorCode =
  /** The kustomization, or a file that it names, cannot be built. The message says which and why. */
  | 'BuildFailed'
  /** The kustomization needs a network, a plug-in or another feature that this package does not have. */
  | 'NotSupported'
  /** The kustomization exceeds a limit of this package. */
  | 'TooLarge'

/** An error of this package. Callers decide by `code`. */
export class KustomizeError extends CodedError<KustomizeErrorCode> {
  override readonly name: string = 'KustomizeError'
}

/** True also for an error made by another copy of this package. With `code`, only for that code. */
export const isKustomizeError: IsError<KustomizeError> = brandErrors(
  KustomizeError,
  'coxswain.kustomize.KustomizeError',
)

/** A build that cannot go on. */
export function buildFailed(message: string, cause?: unknown): KustomizeError {
  return new KustomizeError('BuildFailed', message, cause === undefined ? {} : { cause })
}

/** The same error with words before its message. Errors that are not about the kustomization pass unchanged. */
export function prefixError(prefix: string, error: unknown): unknown {
  if (!isKustomizeError(error, 'BuildFailed')) return error
  return buildFailed(`${prefix}: ${error.message}`, error)
}

/** Runs `step`, with words before the message of its error; a function makes them only when they are needed. */
export function withPrefix<T>(prefix: string | (() => string), step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw prefixError(typeof prefix === 'string' ? prefix : prefix(), error)
  }
}
