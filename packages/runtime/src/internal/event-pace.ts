import type { Clock, Timer } from '@coxswain/kit'

/** The burst. */
const burst = 100
/** Events per second during a flood: the work itself has priority over its events. */
const perSecond = 100
/** Events per second when few arrive. */
const perQuietSecond = 500
const interval = 100
/** More than this many within an interval are a flood. */
const few = 1

/**
 * Spreads a flood of events over time, as client rate limits do upstream (kubelets: 50 a second, burst 100); without a
 * flood there is no delay.
 */
export class EventPace {
  readonly #clock: Clock
  #left = burst
  /** When `#left` was last updated. */
  #at: number
  /** The rate per second since then. */
  #rate = perSecond
  #arrived = 0
  #waiting: (() => void)[] = []
  #timer: Timer | undefined
  #hasEnded = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#at = clock.monotonic()
  }

  /** Counts an event that arrives. */
  arrive(): void {
    this.#arrived++
  }

  /** Resolves when the next event may be sent, in the order of calls; undefined when it may be sent now. */
  turn(): Promise<void> | undefined {
    if (this.#hasEnded) return undefined
    if (this.#waiting.length === 0) {
      this.#refill()
      if (this.#left >= 1) {
        this.#left--
        return undefined
      }
    }
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.#arm()
    })
  }

  /** Ends all delays. */
  end(): void {
    this.#hasEnded = true
    this.#timer?.cancel()
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #refill(): void {
    const now = this.#clock.monotonic()
    this.#left = Math.min(burst, this.#left + ((now - this.#at) * this.#rate) / 1000)
    this.#at = now
  }

  #arm(): void {
    this.#timer ??= this.#clock.after(interval, () => {
      this.#timer = undefined
      this.#refill()
      this.#rate = this.#arrived > few ? perSecond : perQuietSecond
      this.#arrived = 0
      const now = this.#waiting.splice(0, Math.floor(this.#left))
      this.#left -= now.length
      for (const resolve of now) resolve()
      if (this.#waiting.length > 0) this.#arm()
    })
  }
}
