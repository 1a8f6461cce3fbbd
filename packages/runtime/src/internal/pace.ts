import type { Clock } from '@coxswain/kit'

/** Keeps a least time between two turns of the same object, the first of which comes at once. */
export class Pace {
  readonly #clock: Clock
  readonly #interval: number
  /** When the last turn of each was, or will be; those that would not have to wait any more are not here for long. */
  readonly #turns = new Map<string, number>()

  constructor(clock: Clock, interval: number = 0) {
    this.#clock = clock
    this.#interval = interval
  }

  /** Milliseconds until the turn in which something that has happened now is seen to. */
  wait(key: string): number {
    if (this.#interval === 0) return 0
    const now = this.#clock.monotonic()
    const last = this.#turns.get(key)
    if (last !== undefined && last > now) return last - now
    const turn = last === undefined ? now : Math.max(now, last + this.#interval)
    this.#forgetUntil(now - this.#interval)
    this.#turns.delete(key)
    this.#turns.set(key, turn)
    return turn - now
  }

  #forgetUntil(time: number): void {
    for (const [key, turn] of this.#turns) {
      if (turn > time) return
      this.#turns.delete(key)
    }
  }
}
