import type { Clock } from '@coxswain/kit'

/** A token bucket for the requests of a client. */
export interface RateLimitOptions {
  /** Sustained requests per second. */
  readonly qps: number
  /** The burst of requests. */
  readonly burst: number
}

/** Admits requests in order. */
export interface RateLimiter {
  /** Resolves when the request may be sent; rejects with the signal's reason. */
  wait(signal?: AbortSignal): Promise<void>
}

/** A token bucket. A request that is aborted while it waits does not return its token. */
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
