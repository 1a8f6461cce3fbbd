import { performance } from 'node:perf_hooks'

/** Of the time of this thread, containers that print may together use one part in so many. */
const parts = 4
/** Milliseconds: shorter waits are none. */
const slack = 10

/**
 * Keeps containers that print without end from using up the thread that writes their logs: the process that prints has to
 * wait, as at a slow terminal. One that prints now and then never does.
 */
export class OutputPacer {
  /** Milliseconds since some time. */
  readonly #now: () => number
  /** When everything that was done is paid for. */
  #freeAt = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Does a piece of work; tells how many milliseconds to wait before the next. */
  run(work: () => void): number {
    const began = this.#now()
    work()
    const now = this.#now()
    this.#freeAt = Math.max(this.#freeAt, began) + (now - began) * parts
    const wait = this.#freeAt - now
    return wait > slack ? wait : 0
  }
}
