/** Something that has to finish in time, or is ended. */
export interface Deadline {
  /** Called once, unless removed before. */
  expire(): void
}

const tick = 1000

/**
 * Deadlines that are nearly always met: setting and removing one is a map operation, and they are checked once
 * a second. One may expire up to two seconds late.
 */
export class Deadlines implements Disposable {
  readonly #due = new Map<Deadline, number>()
  readonly #timer: NodeJS.Timeout
  #now = 0

  constructor() {
    this.#timer = setInterval(() => this.#sweep(), tick)
    this.#timer.unref()
  }

  /** Replaces an earlier one of the same owner. */
  set(deadline: Deadline, ms: number): void {
    this.#due.set(deadline, this.#now + Math.ceil(ms / tick) + 1)
  }

  forget(deadline: Deadline): void {
    this.#due.delete(deadline)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#due.clear()
  }

  #sweep(): void {
    this.#now++
    for (const [deadline, due] of this.#due) {
      if (due > this.#now) continue
      this.#due.delete(deadline)
      deadline.expire()
    }
  }
}
