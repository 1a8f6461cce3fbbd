import type { Clock } from '@coxswain/kit'

/** How long other requests may wait for one that takes long, in milliseconds. */
const slice = 10

/**
 * Cuts long work into slices: the worker looks between two steps whether its slice is used up, and if so lets others go
 * on. On a virtual clock, which stands still meanwhile, all of the work is one slice.
 */
export class Slices {
  readonly #clock: Clock
  #started: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#started = clock.monotonic()
  }

  get isUsedUp(): boolean {
    return this.#clock.monotonic() - this.#started >= slice
  }

  /** Resolves when the next slice begins. */
  async next(): Promise<void> {
    await this.#clock.sleep(0)
    this.#started = this.#clock.monotonic()
  }
}
