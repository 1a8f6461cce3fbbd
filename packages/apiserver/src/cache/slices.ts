import type { Clock } from '@coxswain/kit'

/** How long other requests may wait for one that takes long, in milliseconds. */
const slice = 10

/** Gives everybody in this server who works long a turn of the event loop, one at a time. */
export class Turns {
  readonly clock: Clock
  #last: Promise<void> = Promise.resolve()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Resolves in a turn that is nobody else's. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => this.clock.sleep(0))
    return this.#last
  }
}

/**
 * Cuts long work into slices: the worker looks between two steps whether its slice is used up, and if so lets others go
 * on. On a virtual clock, which stands still meanwhile, all of the work is one slice.
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
