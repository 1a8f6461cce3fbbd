export interface AssertionFailure {
  readonly message: string
  readonly operator: string
  readonly actual?: unknown
  readonly expected?: unknown
  readonly cause?: unknown
}

/** The AssertionError of `node:assert`, whose two values test runners show side by side; in a browser an Error like it. */
export async function createAssertionError({ cause, ...failure }: AssertionFailure): Promise<Error> {
  const more = cause === undefined ? {} : { cause }
  if (!globalThis.process?.versions?.node) {
    const error = new Error(failure.message, more)
    return Object.assign(error, failure, { name: 'AssertionError', code: 'ERR_ASSERTION' })
  }
  const { AssertionError } = await import('node:assert')
  return Object.assign(new AssertionError(failure), more)
}
