const initial = 10_000
const longest = 300_000

/** The kubelet's back-off: none at first, then 10 s doubling to 300 s, and none again after ten good minutes. */
export class BackOff {
  readonly #entries = new Map<string, { delay: number; updated: number }>()

  /** The delay that applies to `key` at `now`, counted from `since`; undefined when it may proceed. */
  current(key: string, since: number, now: number): number | undefined {
    const entry = this.#entries.get(key)
    if (!entry || now - entry.updated > 2 * longest) return undefined
    return now - since < entry.delay ? entry.delay : undefined
  }

  /** Records an attempt of `key`: the next one waits longer. */
  next(key: string, now: number): void {
    const entry = this.#entries.get(key)
    if (!entry || now - entry.updated > 2 * longest) this.#entries.set(key, { delay: initial, updated: now })
    else this.#entries.set(key, { delay: Math.min(entry.delay * 2, longest), updated: now })
  }
}

/** `1m20s`, as Go prints durations of whole seconds. */
export function formatSeconds(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`
}
