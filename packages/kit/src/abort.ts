/** The default abort reason. */
export function createAbortError(message = 'stopped'): Error {
  return new DOMException(message, 'AbortError')
}

/**
 * Whether `error` only reports an abort. Pass the signal if there is one: then its own reason counts too, whatever it is.
 */
export function isAbort(error: unknown, signal?: AbortSignal): boolean {
  if (signal?.aborted && error === signal.reason) return true
  return error instanceof Error && error.name === 'AbortError'
}

/** Resolves when `signal` aborts; at once when it has. Never rejects. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Settles as `promise` does, or rejects with the signal's reason as soon as it aborts. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      promise.catch(() => {})
      return reject(signal.reason)
    }
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
