import { isConflict } from '@coxswain/apimachinery/wire-format'
import { createBackoff, type Env } from '@coxswain/kit'

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions {
  /** The number of attempts. @default 5 */
  readonly tries?: number
  /** Milliseconds before the second attempt. @default 10 */
  readonly delay?: number
  /** How much longer each wait is than the one before. @default 1 */
  readonly factor?: number
  readonly signal?: AbortSignal
}

/**
 * Calls `change` until it does not fail with a conflict; it must read the object again each time. Defaults are client-go's
 * DefaultRetry. Rejects with the last conflict, or with whatever else `change` rejects with.
 */
export async function retryOnConflict<T>(
  env: Pick<Env, 'clock' | 'random'>,
  change: () => Promise<T>,
  options: RetryOnConflictOptions = {},
): Promise<T> {
  const { tries = 5, delay = 10, factor = 1, signal } = options
  const backoff = createBackoff({
    ...env,
    initial: delay,
    cap: Number.POSITIVE_INFINITY,
    factor,
    jitter: 0.1,
  })
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await change()
    } catch (error) {
      if (!isConflict(error) || attempt >= tries) throw error
    }
    await env.clock.sleep(backoff.next(), signal ? { signal } : {})
  }
}
