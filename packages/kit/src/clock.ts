/** A pending call of {@link Clock.after}. */
export interface Timer {
  /** Cancels the call; does nothing once it has run. */
  cancel(): void
}

/** Options of {@link Clock.sleep}. */
export interface SleepOptions {
  /** Ends the sleep early: the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Time, as everything outside `kit` sees it. */
export interface Clock {
  /** Milliseconds since the epoch. May jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since some fixed point; never goes back. For measuring and for deadlines. */
  monotonic(): number
  /** Resolves after `ms` milliseconds (at once, but not synchronously, for 0 or less; never for Infinity). */
  sleep(ms: number, options?: SleepOptions): Promise<void>
  /** Calls `callback` once after `ms` milliseconds, never synchronously. The callback must not throw. */
  after(ms: number, callback: () => void): Timer
}

/** The longest delay of the platform's timers; longer waits are split. */
const longestDelay = 2 ** 31 - 1

/** The machine's clock. */
export function createRealClock(): Clock {
  const after = (ms: number, callback: () => void): Timer => {
    requireDelay(ms)
    const due = performance.now() + ms
    const arm = (): ReturnType<typeof setTimeout> => {
      const left = due - performance.now()
      return left > longestDelay
        ? setTimeout(() => {
            handle = arm()
          }, longestDelay)
        : setTimeout(callback, Math.max(0, Math.ceil(left))) // the platform truncates fractions and would be early
    }
    let handle = arm()
    return { cancel: () => clearTimeout(handle) }
  }
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after,
    sleep: (ms, options) => sleepWith(after, ms, options),
  }
}

/** Rejects NaN: an invalid date must not become a loop that never waits. */
export function requireDelay(ms: number): void {
  if (Number.isNaN(ms)) throw new RangeError('a delay must be a number of milliseconds, not NaN')
}

/** `sleep` in terms of `after`; shared by every clock. */
export function sleepWith(after: Clock['after'], ms: number, options: SleepOptions = {}): Promise<void> {
  const { signal } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = after(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    const onAbort = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
