import type { Clock, Timer } from '@coxswain/kit'

/**
 * Calls `onQuiet` once after `limit` milliseconds of silence. `heard` is cheap: the timer checks the last time when it fires
 * instead of being rearmed.
 */
export class QuietGuard {
  readonly #clock: Clock
  readonly #onQuiet: () => void
  #limit: number
  #last: number
  #timer: Timer

  constructor(clock: Clock, limit: number, onQuiet: () => void) {
    this.#clock = clock
    this.#limit = limit
    this.#onQuiet = onQuiet
    this.#last = clock.monotonic()
    this.#timer = this.#arm()
  }

  heard(): void {
    this.#last = this.#clock.monotonic()
  }

  /** Replaces the limit, counting from now. */
  expect(limit: number): void {
    if (limit === this.#limit) return
    this.#limit = limit
    this.heard()
    this.#timer.cancel()
    this.#timer = this.#arm()
  }

  stop(): void {
    this.#timer.cancel()
  }

  #arm(): Timer {
    const left = this.#last + this.#limit - this.#clock.monotonic()
    return this.#clock.after(left, () => {
      if (this.#clock.monotonic() - this.#last >= this.#limit) this.#onQuiet()
      else this.#timer = this.#arm()
    })
  }
}
