import { createBackoff, type Env } from '@coxswain/kit'
import { ClientError } from './errors.ts'

/** How often and how long to poll. */
export interface PollOptions {
  /** Milliseconds from the end of one call to the next. @default 1000 */
  readonly interval?: number
  /** How much longer each wait is than the one before. @default 1 */
  readonly factor?: number
  /** No wait is longer than this before jitter, in milliseconds. @default no limit */
  readonly cap?: number
  /** Each wait is stretched by a random share of up to this much. @default 0 */
  readonly jitter?: number
  /** Milliseconds until it gives up; a call that is under way is waited for. @default no limit */
  readonly timeout?: number
  /** Whether the first call comes at once, or after one interval. @default true */
  readonly immediate?: boolean
  readonly signal?: AbortSignal
}

/** How often to poll until a signal aborts. */
export type UntilOptions = Omit<PollOptions, 'timeout' | 'signal'> & { readonly signal: AbortSignal }

type Falsy = false | 0 | '' | null | undefined

/**
 * Calls `condition` again and again until it returns something truthy, and resolves with that. What it throws ends the wait.
 * @throws ClientError `WaitTimeout`, or the reason of `signal`
 */
async function poll<T>(
  env: Pick<Env, 'clock' | 'random'>,
  condition: (signal: AbortSignal | undefined) => T | Promise<T>,
  options: PollOptions = {},
): Promise<Exclude<T, Falsy>> {
  const { clock } = env
  const { timeout = Number.POSITIVE_INFINITY, immediate = true, signal } = options
  const backoff = backoffOf(env, options)
  const end = clock.monotonic() + timeout
  for (let isFirst = true; ; isFirst = false) {
    signal?.throwIfAborted()
    if (!isFirst || !immediate) {
      const left = end - clock.monotonic()
      const wait = backoff.next()
      await clock.sleep(Math.min(wait, left), signal ? { signal } : {})
      if (wait >= left)
        throw new ClientError('WaitTimeout', `the condition does not hold after ${timeout} ms`)
    }
    const found = await condition(signal)
    if (found) return found as Exclude<T, Falsy>
  }
}

/** Calls `work` again and again until `signal` aborts, and resolves then. What it throws ends the loop. */
async function until(
  env: Pick<Env, 'clock' | 'random'>,
  work: (signal: AbortSignal) => unknown,
  options: UntilOptions,
): Promise<void> {
  const { immediate = true, signal } = options
  const backoff = backoffOf(env, options)
  const pause = () => env.clock.sleep(backoff.next(), { signal }).catch(() => {})
  if (!immediate) await pause()
  while (!signal.aborted) {
    await work(signal)
    await pause()
  }
}

function backoffOf(env: Pick<Env, 'clock' | 'random'>, options: Omit<PollOptions, 'signal'>) {
  const { interval = 1_000, factor = 1, cap = Number.POSITIVE_INFINITY, jitter = 0 } = options
  return createBackoff({ ...env, initial: interval, factor, cap, jitter })
}

/** Loops on the injected clock: client-go's `wait` package. For an object and a condition see `waitFor`. */
export const wait: { readonly poll: typeof poll; readonly until: typeof until } = { poll, until }
