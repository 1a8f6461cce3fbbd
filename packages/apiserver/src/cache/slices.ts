import type { Clock } from '@coxswain/kit'

/** How long one long-running task may hold up other requests, in milliseconds. */
const slice = 10

/** Hands turns of the event loop to this server's long-running tasks, one task per turn. */
export class Turns {
  readonly clock: Clock
  #last: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Resolves in a turn that no other task has. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => this.clock.sleep(0))
    return this.#last
  }
}

/**
 * Splits long work into slices: the worker checks between two steps whether its slice is used up, and if so yields to
 * others. On a virtual clock, which does not advance meanwhile, all of the work is one slice.
 */
export class Slices {
  readonly #turns: Turns
  #started: number

  constructor(turns: Turns) {
    this.#turns = turns
    this.#started = turns.clock.monotonic()
  }

  get isUsedUp(): boolean {
    return this.#turns.clock.monotonic() - this.#started >= slice
  }

  /** Resolves when the next slice begins. */
  async next(): Promise<void> {
    await this.#turns.next()
    this.#started = this.#turns.clock.monotonic()
  }
}
