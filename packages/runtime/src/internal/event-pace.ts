import type { Clock, Timer } from '@coxswain/kit'

/** So many at once. */
const burst = 100
/** So many a second while others keep coming: whoever waits for the work comes before who reads of it. */
const perSecond = 100
/** So many a second when hardly any come. */
const perQuietSecond = 500
const interval = 100
/** More than this many within an interval are a flood. */
const few = 1

/**
 * Spreads a flood of events over time, as the rate limits of clients do upstream (kubelets: 50 a second and 100 at once); without a
 * flood nobody waits.
 */
export class EventPace {
  readonly #clock: Clock
  #left = burst
  /** When `#left` was right. */
  #at: number
  /** A second, from then on. */
  #rate = perSecond
  #arrived = 0
  #waiting: (() => void)[] = []
  #timer: Timer | undefined
  #hasEnded = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#at = clock.monotonic()
  }

  /** One more has come. */
  arrive(): void {
    this.#arrived++
  }

  /** Resolves when the next may be sent, in the order of calls; undefined when it may be now. */
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

  /** Nobody waits any more. */
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
