import { setTimeout as sleep } from 'node:timers/promises'
import { isClientError } from '@coxswain/client'

/** Looks until it holds, and gives what was found. What the server refuses counts as not yet. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  within = 30_000,
): Promise<T> {
  const end = performance.now() + within
  for (;;) {
    const found = await look().catch(error => {
      if (isClientError(error)) throw error
      return undefined
    })
    if (found) return found
    if (performance.now() > end) throw new Error(`not within ${within} ms: ${what}`)
    await sleep(50)
  }
}
