import type { Clock } from '@coxswain/kit'

export interface RateLimitOptions {
  /** Requests a second, in the long run. */
  readonly qps: number
  /** Requests at once after a quiet time. */
  readonly burst: number
}

/** Lets requests through in the order they came. */
export interface RateLimiter {
  /** Resolves when the request may go; rejects with the signal's reason. */
  wait(signal?: AbortSignal): Promise<void>
}

/** A token bucket. A request that gives up while it waits does not give its token back. */
export function createRateLimiter(options: RateLimitOptions, clock: Clock): RateLimiter {
  const interval = 1000 / options.qps
  /** When the bucket would be full, were nothing taken. May lie in the future by at most what waits. */
  let fullAt = clock.monotonic()
  return {
    async wait(signal) {
      const now = clock.monotonic()
      fullAt = Math.max(fullAt, now) + interval
      const delay = fullAt - now - options.burst * interval
      if (delay > 0) await clock.sleep(delay, signal ? { signal } : {})
    },
  }
}
