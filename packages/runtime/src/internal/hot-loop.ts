import type { Clock } from '@coxswain/kit'
import { LruMap } from './lru-map.ts'

/** So many reconciles of one object without an error, within this time, and nobody asked for them. */
const count = 20
const within = 10_000
/** One warning per object in this time. */
const silence = 300_000
const remembered = 10_000

interface Recent {
  /** The last `count` times, oldest overwritten first. */
  readonly times: number[]
  next: number
  warned: number
}

/** Notices objects that are reconciled again and again, usually because each reconcile changes something that triggers the next. */
export class HotLoopDetector {
  readonly #clock: Clock
  readonly #recent = new LruMap<string, Recent>(remembered)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** True when this reconcile makes it a hot loop, and nobody was told for a while. */
  reconciled(key: string): boolean {
    const now = this.#clock.monotonic()
    let recent = this.#recent.get(key)
    if (!recent) {
      recent = { times: [], next: 0, warned: Number.NEGATIVE_INFINITY }
      this.#recent.set(key, recent)
    }
    const oldest = recent.times[recent.next]
    recent.times[recent.next] = now
    recent.next = (recent.next + 1) % count
    if (oldest === undefined || now - oldest > within || now - recent.warned < silence) return false
    recent.warned = now
    return true
  }
}
