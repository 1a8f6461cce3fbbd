import { isNotFound } from '@coxswain/apimachinery/status'
import type { InformerFactory } from '@coxswain/informers'
import type { Env, Timer } from '@coxswain/kit'
import { RuntimeError } from '../errors.ts'

/** When the first warning about missing caches is logged, and then how often. */
const firstWarning = 3_000
const warningPeriod = 30_000

export interface WaitOptions {
  readonly env: Env
  /** Milliseconds; undefined for no limit. */
  readonly timeout: number | undefined
  readonly signal: AbortSignal
}

/**
 * Resolves when every cache requested so far has synced, or `signal` aborts. Logs what is missing, and why.
 * @throws RuntimeError `CacheNotSynced` after `timeout`
 */
export async function waitForCaches(
  caches: Pick<InformerFactory, 'informers' | 'synced'>,
  { env, timeout, signal }: WaitOptions,
): Promise<void> {
  const { clock, log } = env
  const missing = () =>
    caches.informers
      .filter(informer => !informer.hasSynced)
      .map(({ name, lastError }) => ({ cache: name, reason: explain(lastError) }))
  const over = new AbortController()
  const onAbort = (): void => over.abort()
  signal.addEventListener('abort', onAbort, { once: true })
  const deadline = timeout === undefined ? undefined : clock.after(timeout, onAbort)
  let hasWarned = false
  const armWarning = (delay: number): Timer =>
    clock.after(delay, () => {
      hasWarned = true
      log.warn('still waiting for caches to sync', describeMissing(missing()))
      warning = armWarning(warningPeriod)
    })
  let warning = armWarning(firstWarning)
  if (signal.aborted) onAbort()
  const synced = await caches.synced(over.signal)
  warning.cancel()
  deadline?.cancel()
  signal.removeEventListener('abort', onAbort)
  if (synced && hasWarned) log.info('all caches have synced')
  if (synced || signal.aborted) return
  const names = missing().map(entry => entry.cache)
  throw new RuntimeError('CacheNotSynced', `caches did not sync in ${timeout} ms: ${names.join(', ')}`)
}

interface MissingCache {
  readonly cache: string
  readonly reason: string
}

/** The names, and the reason once where it is the same for all of them. */
function describeMissing(missing: readonly MissingCache[]): Record<string, unknown> {
  const [first] = missing
  if (first && missing.every(({ reason }) => reason === first.reason))
    return { missing: missing.map(({ cache }) => cache).join(', '), reason: first.reason }
  return { missing: missing.map(({ cache, reason }) => `${cache}: ${reason}`).join('; ') }
}

/** Why a list or watch failed, in one line. */
function explain(error: unknown): string {
  if (isNotFound(error)) return 'the server does not serve it: is its CustomResourceDefinition installed?'
  return error === undefined ? 'no answer yet' : error instanceof Error ? error.message : String(error)
}
