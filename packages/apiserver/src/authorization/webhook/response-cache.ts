import type { Clock } from '@coxswain/kit'

const capacity = 8192

interface Entry<T> {
  readonly value: T
  readonly expires: number
}

/** Caches a bounded number of responses, each for a time; evicts the least recently used. */
export class ResponseCache<T> {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry<T>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    if (entry.expires <= this.#clock.monotonic()) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  /** `ttl` in milliseconds; with 0 nothing is cached. */
  set(key: string, value: T, ttl: number): void {
    if (ttl <= 0) return
    this.#entries.delete(key)
    this.#entries.set(key, { value, expires: this.#clock.monotonic() + ttl })
    if (this.#entries.size <= capacity) return
    const [oldest] = this.#entries.keys()
    this.#entries.delete(oldest!)
  }
}
