import type { Clock } from '@coxswain/kit'

/** Keeps a minimum interval between two reconciles of one object; the first one is not delayed. */
export class Pace {
  readonly #clock: Clock
  readonly #interval: number
  /** When each was or will be reconciled last; entries that have passed are removed soon. */
  readonly #turns = new Map<string, number>()

  constructor(clock: Clock, interval: number = 0) {
    this.#clock = clock
    this.#interval = interval
  }

  /** Milliseconds until an event that happens now may be reconciled. */
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
