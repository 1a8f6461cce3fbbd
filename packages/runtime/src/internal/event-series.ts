import { formatMicroTime } from '@coxswain/apimachinery/time'
import type { Clock, Timer } from '@coxswain/kit'
import type { SeriesEventInput } from './kinds.ts'

/** How often series are looked at; one in which so long nothing came has ended. */
const finishTime = 360_000
/** Every so many looks the series that go on are written, so that the server does not let them expire. */
const looksPerRefresh = 5

/** An event as the server has it, or is about to. */
interface Told {
  event: SeriesEventInput
  /** When it last happened, in milliseconds of the wall clock. */
  last: number
}

/**
 * Makes series of what repeats, by the rules and times of client-go's `tools/events`: the second time is written, those
 * after it are only counted, and the count is written every half an hour and when the series has ended. Whatever is said of
 * it, the same of the same version of an object is one event.
 */
export class EventSeries {
  readonly #clock: Clock
  readonly #write: (event: SeriesEventInput) => void
  readonly #told = new Map<string, Told>()
  #timer: Timer | undefined
  #looks = 0
  #isEnded = false

  /** `write` is told of series to write again. */
  constructor(clock: Clock, write: (event: SeriesEventInput) => void) {
    this.#clock = clock
    this.#write = write
  }

  /** What is to be written now, if anything. */
  add(event: SeriesEventInput): SeriesEventInput | undefined {
    const key = keyOf(event)
    const last = this.#clock.now()
    const told = this.#told.get(key)
    if (!told) {
      this.#told.set(key, { event, last })
      this.#arm()
      return event
    }
    const { series } = told.event
    const count = (series?.count ?? 1) + 1
    told.last = last
    told.event = { ...told.event, series: { count, lastObservedTime: formatMicroTime(last) } }
    return series ? undefined : told.event
  }

  /** Nothing is written any more. */
  end(): void {
    this.#isEnded = true
    this.#timer?.cancel()
  }

  /** Looks as long as there is something to look at. */
  #arm(): void {
    if (this.#isEnded) return
    this.#timer ??= this.#clock.after(finishTime, () => {
      this.#timer = undefined
      this.#look()
      if (this.#told.size > 0) this.#arm()
    })
  }

  #look(): void {
    const ended = this.#clock.now() - finishTime
    const isRefresh = ++this.#looks % looksPerRefresh === 0
    for (const [key, { event, last }] of this.#told) {
      const hasEnded = last <= ended
      if (hasEnded) this.#told.delete(key)
      if (event.series && (hasEnded || isRefresh)) this.#write(event)
    }
  }
}

function keyOf(event: SeriesEventInput): string {
  const { type, action, reason, reportingController, reportingInstance, regarding, related } = event
  return JSON.stringify([type, action, reason, reportingController, reportingInstance, regarding, related])
}
