import type { Clock, Timer } from '@coxswain/kit'
import type { EventRecorder, EventSource } from '@coxswain/runtime'

/** So many events at once, and then so many a second: whoever waits for Pods comes before who reads of them. */
const burst = 100
const perSecond = 100
const interval = 100
/** More than this many are not kept. */
const limit = 20_000

/**
 * A recorder that hands a flood of events on bit by bit and in order, as kubelets do (`eventRecordQPS`); without a flood at
 * once.
 */
export class PacedEvents implements Disposable {
  readonly #clock: Clock
  #waiting: (() => void)[] = []
  #timer: Timer | undefined
  #isDisposed = false
  #left = burst

  constructor(clock: Clock) {
    this.#clock = clock
  }

  recorderFor(events: EventRecorder, source: EventSource): EventRecorder {
    const to = events.from(source)
    return {
      normal: (subject, reason, message) => this.#add(() => to.normal(subject, reason, message)),
      warning: (subject, reason, message) => this.#add(() => to.warning(subject, reason, message)),
      from: other => this.recorderFor(events, other),
    }
  }

  /** What waits is not told any more. */
  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#waiting = []
    this.#timer?.cancel()
  }

  #add(tell: () => void): void {
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left--
      tell()
    } else if (this.#waiting.length < limit) this.#waiting.push(tell)
    this.#tick()
  }

  /** Ticks until nothing waits and the next burst may come. */
  #tick(): void {
    if (this.#timer || this.#isDisposed) return
    this.#timer = this.#clock.after(interval, () => {
      this.#timer = undefined
      this.#left = Math.min(burst, this.#left + (perSecond * interval) / 1000)
      const now = this.#waiting.splice(0, this.#left)
      this.#left -= now.length
      for (const tell of now) tell()
      if (this.#waiting.length > 0 || this.#left < burst) this.#tick()
    })
  }
}
