import { setTimeout as sleep } from 'node:timers/promises'
import { isClientError } from '@coxswain/client'

/**
 * Looks until it holds, and gives what was found. A failure counts as not yet, unless it is our client's own; the last
 * one is reported when time is up. The time is a net for what never happens: long enough for a machine that has a lot else
 * to do.
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  within = 120_000,
): Promise<T> {
  const end = performance.now() + within
  for (;;) {
    let failure: unknown
    const found = await look().catch(error => {
      if (isClientError(error)) throw error
      failure = error
      return undefined
    })
    if (found) return found
    if (performance.now() > end)
      throw new Error(`not within ${within / 1000} s: ${what}`, failure ? { cause: failure } : {})
    await sleep(50)
  }
}
