/** An error that callers identify by `code`, never by message. Each package has its own class with its own codes. */
export class CodedError<Code extends string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** True for the errors of one class. With `code`, only for that code. */
export type IsError<E extends Error> = (
  error: unknown,
  ...code: E extends CodedError<infer Code> ? [code?: Code] : []
) => error is E

/**
 * Marks the errors of a class with a symbol that every copy of a package shares, and returns the predicate for them: `instanceof`
 * fails if a program has loaded a package twice.
 */
export function brandErrors<E extends Error>(type: { readonly prototype: E }, name: string): IsError<E> {
  const brand = Symbol.for(name)
  Object.defineProperty(type.prototype, brand, { value: true })
  return (error, ...[code]): error is E => {
    if (typeof error !== 'object' || error === null || !(brand in error)) return false
    return code === undefined || (error as { code?: unknown }).code === code
  }
}
