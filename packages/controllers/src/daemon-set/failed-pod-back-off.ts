const first = 1_000
const longest = 15 * 60_000

/** How long failed pods of a node are left alone, so that nobody fights with a kubelet that refuses them. */
export class FailedPodBackOff {
  readonly #entries = new Map<string, { readonly delay: number; readonly since: number }>()

  /** Milliseconds until the next may be deleted; 0 when it may now. */
  left(key: string, now: number): number {
    const entry = this.#entries.get(key)
    return entry ? Math.max(0, entry.since + entry.delay - now) : 0
  }

  /** One is deleted: the next waits twice as long. */
  note(key: string, now: number): void {
    for (const [other, { since }] of this.#entries) if (now - since > 2 * longest) this.#entries.delete(other)
    const before = this.#entries.get(key)
    this.#entries.set(key, { delay: before ? Math.min(longest, before.delay * 2) : first, since: now })
  }
}
