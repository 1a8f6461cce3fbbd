import { createAbortError } from '../abort.ts'

/**
 * Aborts at the first SIGTERM or SIGINT. The second ends the process at once. Call the returned `dispose` to stop listening.
 */
export function abortOnSignals(): { readonly signal: AbortSignal } & Disposable {
  const controller = new AbortController()
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(1)
    controller.abort(createAbortError(`stopped by ${name}`))
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off('SIGTERM', onSignal)
      process.off('SIGINT', onSignal)
    },
  }
}
