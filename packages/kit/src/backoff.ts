import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Options of {@link createBackoff}. */
export interface BackoffOptions {
  readonly clock: Clock
  readonly random: Random
  /** The first delay, in milliseconds. */
  readonly initial: number
  /** The longest delay before jitter. */
  readonly cap: number
  /** @default 2 */
  readonly factor?: number
  /** Each delay is extended by a random fraction of up to this: 1 means up to twice as long. @default 0 */
  readonly jitter?: number
  /** The delay is reset if `next` was not called for this long. @default never */
  readonly resetAfter?: number
}

/** The delay before the next retry. */
export interface Backoff {
  next(): number
  reset(): void
}

/** Creates an exponential back-off with optional jitter. */
export function createBackoff(options: BackoffOptions): Backoff {
  const {
    clock,
    random,
    initial,
    cap,
    factor = 2,
    jitter = 0,
    resetAfter = Number.POSITIVE_INFINITY,
  } = options
  let delay = initial
  let last = Number.NEGATIVE_INFINITY
  return {
    next() {
      const now = clock.monotonic()
      if (now - last >= resetAfter) delay = initial
      last = now
      const current = Math.min(delay, cap)
      delay = Math.min(delay * factor, cap)
      return jitter > 0 ? current + current * jitter * random.next() : current
    },
    reset() {
      delay = initial
    },
  }
}
