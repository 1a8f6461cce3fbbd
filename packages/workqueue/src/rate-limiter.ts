import type { Clock } from '@coxswain/kit'

/** Limits how soon an item is retried. */
export interface RateLimiter<T> {
  /** The delay in milliseconds before the next retry, which is counted. */
  when(item: T): number
  /** The item succeeded or is dropped: its next delay starts from the beginning. */
  forget(item: T): void
  /** The number of retries of the item since it was last forgotten. */
  retries(item: T): number
}

/** Options of {@link createExponentialLimiter}. */
export interface ExponentialOptions {
  /** The first delay in milliseconds; doubles with each retry. @default 5 */
  readonly base?: number
  /** The longest delay in milliseconds. @default 1000 seconds */
  readonly cap?: number
}

/** Each item has its own delay, which doubles with every retry: the default of controllers. */
export function createExponentialLimiter<T>(options: ExponentialOptions = {}): RateLimiter<T> {
  const { base = 5, cap = 1_000_000 } = options
  const failures = new Map<T, number>()
  return {
    when: item => {
      const count = failures.get(item) ?? 0
      failures.set(item, count + 1)
      return Math.min(base * 2 ** count, cap)
    },
    forget: item => {
      failures.delete(item)
    },
    retries: item => failures.get(item) ?? 0,
  }
}

/** Options of {@link createBucketLimiter}. */
export interface BucketOptions {
  readonly clock: Clock
  /** Tokens added per second. @default 10 */
  readonly rate?: number
  /** The size of the bucket, which starts full. @default 100 */
  readonly burst?: number
}

/** One token bucket for all items. A retry takes a token, in advance if there is none. */
export function createBucketLimiter<T>(options: BucketOptions): RateLimiter<T> {
  const { clock, rate = 10, burst = 100 } = options
  let tokens = burst
  let last = clock.monotonic()
  return {
    when: () => {
      const now = clock.monotonic()
      tokens = Math.min(burst, tokens + ((now - last) / 1000) * rate) - 1
      last = now
      return tokens >= 0 ? 0 : (-tokens / rate) * 1000
    },
    forget: () => {},
    retries: () => 0,
  }
}

/** Options of {@link createFastSlowLimiter}. */
export interface FastSlowOptions {
  /** The delay of the first retries, in milliseconds. */
  readonly fast: number
  /** The delay of all further retries, in milliseconds. */
  readonly slow: number
  /** The number of fast retries. */
  readonly fastTries: number
}

/** A few fast retries per item, then slow ones. */
export function createFastSlowLimiter<T>(options: FastSlowOptions): RateLimiter<T> {
  const { fast, slow, fastTries } = options
  const failures = new Map<T, number>()
  return {
    when: item => {
      const count = (failures.get(item) ?? 0) + 1
      failures.set(item, count)
      return count <= fastTries ? fast : slow
    },
    forget: item => {
      failures.delete(item)
    },
    retries: item => failures.get(item) ?? 0,
  }
}

/** The longest delay of all `limiters`; each of them counts every retry. */
export function createMaxOfLimiter<T>(...limiters: readonly RateLimiter<T>[]): RateLimiter<T> {
  return {
    when: item => limiters.reduce((longest, limiter) => Math.max(longest, limiter.when(item)), 0),
    forget: item => {
      for (const limiter of limiters) limiter.forget(item)
    },
    retries: item => limiters.reduce((most, limiter) => Math.max(most, limiter.retries(item)), 0),
  }
}
