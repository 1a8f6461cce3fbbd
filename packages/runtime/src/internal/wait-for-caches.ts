import type { Env, Timer } from '@coxswain/kit'
import type { Cache } from '../cache.ts'
import { RuntimeError } from '../errors.ts'

/** How often those who wait are told what for. */
const warningPeriod = 30_000

export interface WaitOptions {
  readonly env: Env
  /** Milliseconds; undefined waits for ever. */
  readonly timeout: number | undefined
  readonly signal: AbortSignal
}

/**
 * Resolves when every cache asked for so far is filled, or `signal` aborts. Says now and then what is missing, and why.
 * @throws RuntimeError `CacheNotSynced` after `timeout`
 */
export async function waitForCaches(cache: Cache, { env, timeout, signal }: WaitOptions): Promise<void> {
  const { clock, log } = env
  const missing = () =>
    cache.informers
      .filter(informer => !informer.hasSynced)
      .map(({ name, lastError }) => ({ cache: name, error: lastError }))
  const over = new AbortController()
  const onAbort = (): void => over.abort()
  signal.addEventListener('abort', onAbort, { once: true })
  const deadline = timeout === undefined ? undefined : clock.after(timeout, onAbort)
  const armWarning = (): Timer =>
    clock.after(warningPeriod, () => {
      log.warn('still waiting for caches to fill', { missing: missing() })
      warning = armWarning()
    })
  let warning = armWarning()
  if (signal.aborted) onAbort()
  const synced = await cache.synced(over.signal)
  warning.cancel()
  deadline?.cancel()
  signal.removeEventListener('abort', onAbort)
  if (synced || signal.aborted) return
  const names = missing().map(entry => entry.cache)
  throw new RuntimeError('CacheNotSynced', `caches did not fill in ${timeout} ms: ${names.join(', ')}`)
}
