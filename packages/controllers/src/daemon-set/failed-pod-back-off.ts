const first = 1_000
const longest = 15 * 60_000

/** Back-off for deleting failed pods per node, so that the controller does not fight with a kubelet that rejects them. */
export class FailedPodBackOff {
  readonly #entries = new Map<string, { readonly delay: number; readonly since: number }>()

  /** Milliseconds until the next pod may be deleted; 0 if now. */
  left(key: string, now: number): number {
    const entry = this.#entries.get(key)
    return entry ? Math.max(0, entry.since + entry.delay - now) : 0
  }

  /** Records a deletion: the next one waits twice as long. */
  note(key: string, now: number): void {
    for (const [other, { since }] of this.#entries) if (now - since > 2 * longest) this.#entries.delete(other)
    const before = this.#entries.get(key)
    this.#entries.set(key, { delay: before ? Math.min(longest, before.delay * 2) : first, since: now })
  }
}
