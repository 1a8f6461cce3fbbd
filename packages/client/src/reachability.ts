import { type Logger, markReported } from '@coxswain/kit'
import { isTransportError } from '@coxswain/wire'

/**
 * Logs once that the server cannot be reached, and once that it answers again, however many calls fail in between. Errors
 * that it has logged are marked, so that callers need not log them again.
 */
export class Reachability {
  readonly #log: Logger
  #isLost = false

  constructor(log: Logger) {
    this.#log = log
  }

  /** A call got no answer. */
  failed(error: unknown): void {
    if (!isTransportError(error) || error.code === 'Closed') return
    markReported(error)
    if (this.#isLost) return
    this.#isLost = true
    this.#log.warn('the API server cannot be reached, will try again', { reason: error.message })
  }

  /** A call was answered. */
  answered(): void {
    if (!this.#isLost) return
    this.#isLost = false
    this.#log.info('the API server answers again')
  }
}
