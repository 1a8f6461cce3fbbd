import { formatMicroTime } from '@coxswain/apimachinery/time'
import type { Clock, Timer } from '@coxswain/kit'
import type { SeriesEventInput } from './kinds.ts'

/** How often series are checked; a series without events for this long has ended. */
const finishTime = 360_000
/** Active series are written every this many checks, so that they do not expire on the server. */
const checksPerRefresh = 5

/** An event that was sent, or is about to be. */
interface Recorded {
  event: SeriesEventInput
  /** When it last happened, in milliseconds of the wall clock. */
  last: number
}

/**
 * Makes series of repeated events, by the rules and times of client-go's `tools/events`: the second one is written, those
 * after it are only counted, and the count is written every half an hour and when the series has ended. Whatever its
 * note, the same event for the same version of an object is one event.
 */
export class EventSeries {
  readonly #clock: Clock
  readonly #write: (event: SeriesEventInput) => void
  readonly #recorded = new Map<string, Recorded>()
  #timer: Timer | undefined
  #checks = 0
  #isEnded = false

  /** `write` is called for series to write again. */
  constructor(clock: Clock, write: (event: SeriesEventInput) => void) {
    this.#clock = clock
    this.#write = write
  }

  /** The event to write now, if any. */
  add(event: SeriesEventInput): SeriesEventInput | undefined {
    const key = keyOf(event)
    const last = this.#clock.now()
    const recorded = this.#recorded.get(key)
    if (!recorded) {
      this.#recorded.set(key, { event, last })
      this.#arm()
      return event
    }
    const { series } = recorded.event
    const count = (series?.count ?? 1) + 1
    recorded.last = last
    recorded.event = { ...recorded.event, series: { count, lastObservedTime: formatMicroTime(last) } }
    return series ? undefined : recorded.event
  }

  /** Stops writing. */
  end(): void {
    this.#isEnded = true
    this.#timer?.cancel()
  }

  /** Checks as long as there are events. */
  #arm(): void {
    if (this.#isEnded) return
    this.#timer ??= this.#clock.after(finishTime, () => {
      this.#timer = undefined
      this.#check()
      if (this.#recorded.size > 0) this.#arm()
    })
  }

  #check(): void {
    const ended = this.#clock.now() - finishTime
    const isRefresh = ++this.#checks % checksPerRefresh === 0
    for (const [key, { event, last }] of this.#recorded) {
      const hasEnded = last <= ended
      if (hasEnded) this.#recorded.delete(key)
      if (event.series && (hasEnded || isRefresh)) this.#write(event)
    }
  }
}

function keyOf(event: SeriesEventInput): string {
  const { type, action, reason, reportingController, reportingInstance, regarding, related } = event
  return JSON.stringify([type, action, reason, reportingController, reportingInstance, regarding, related])
}
