import { performance } from 'node:perf_hooks'

/** Containers that print may together use one part in this many of the thread's time. */
const parts = 4
/** Milliseconds: shorter waits are skipped. */
const slack = 10

/**
 * Keeps containers that print without end from saturating the thread that writes their logs: the printing process has to
 * wait, as at a slow terminal. One that prints occasionally never does.
 */
export class OutputPacer {
  /** A monotonic clock in milliseconds. */
  readonly #now: () => number
  /** When the work done so far has used up its share of time. */
  #freeAt = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Does a piece of work; returns the milliseconds to wait before the next. */
  run(work: () => void): number {
    const began = this.#now()
    work()
    const now = this.#now()
    this.#freeAt = Math.max(this.#freeAt, began) + (now - began) * parts
    const wait = this.#freeAt - now
    return wait > slack ? wait : 0
  }
}
