import type { Clock } from '@coxswain/kit'

/** How long an item has to wait before it is tried again. */
export interface RateLimiter<T> {
  /** The delay in milliseconds for the next try; counts as one. */
  when(item: T): number
  /** The item is settled, for good or ill: its next delay starts from the beginning. */
  forget(item: T): void
  /** How often the item was tried since it was last forgotten. */
  retries(item: T): number
}

export interface ExponentialOptions {
  /** The first delay in milliseconds; each further one is twice as long. @default 5 */
  readonly base?: number
  /** No delay is longer. @default 1000 seconds */
  readonly cap?: number
}

/** Each item has its own delay, doubled with every try: what controllers use unless told otherwise. */
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

export interface BucketOptions {
  readonly clock: Clock
  /** Tokens that come back each second. @default 10 */
  readonly rate?: number
  /** Tokens there are at most, and at first. @default 100 */
  readonly burst?: number
}

/** One bucket of tokens for all items together. A try takes a token, in advance when there is none. */
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

export interface FastSlowOptions {
  /** The delay of the first tries, in milliseconds. */
  readonly fast: number
  /** The delay of all further tries, in milliseconds. */
  readonly slow: number
  /** How many tries are fast. */
  readonly fastTries: number
}

/** A few quick tries per item, then slow ones. */
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

/** The longest delay any of `limiters` asks for; all of them count every try. */
export function createMaxOfLimiter<T>(...limiters: readonly RateLimiter<T>[]): RateLimiter<T> {
  return {
    when: item => limiters.reduce((longest, limiter) => Math.max(longest, limiter.when(item)), 0),
    forget: item => {
      for (const limiter of limiters) limiter.forget(item)
    },
    retries: item => limiters.reduce((most, limiter) => Math.max(most, limiter.retries(item)), 0),
  }
}
