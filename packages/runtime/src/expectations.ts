import type { Clock } from '@coxswain/kit'

interface Expected {
  creations: number
  /** Uids of what is to go. */
  readonly deletions: Set<string>
  readonly since: number
}

/** Expectations that were not met for so long are given up: an event was lost, or never came. */
const expiry = 300_000

/**
 * What a controller that creates or deletes many objects still waits to see in its cache before it counts again. Reads of
 * an operator's client show its own writes already; this is for counting from events and indexes instead.
 */
export class Expectations {
  readonly #clock: Clock
  readonly #expected = new Map<string, Expected>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `key` has begun to create `count` objects. */
  expectCreations(key: string, count: number): void {
    this.#entry(key).creations += count
  }

  /** `key` has begun to delete the objects with these uids. */
  expectDeletions(key: string, uids: Iterable<string>): void {
    const { deletions } = this.#entry(key)
    for (const uid of uids) deletions.add(uid)
  }

  /** A creation was seen, or has failed. */
  creationObserved(key: string): void {
    const expected = this.#expected.get(key)
    if (expected && expected.creations > 0) expected.creations--
  }

  /** A deletion was seen, or has failed. */
  deletionObserved(key: string, uid: string): void {
    this.#expected.get(key)?.deletions.delete(uid)
  }

  /** Whether everything expected was seen, or is not worth waiting for any longer. */
  satisfied(key: string): boolean {
    const expected = this.#expected.get(key)
    if (!expected) return true
    const met = expected.creations === 0 && expected.deletions.size === 0
    if (met || this.#clock.monotonic() - expected.since > expiry) this.#expected.delete(key)
    return !this.#expected.has(key)
  }

  /** Nothing is expected any more: the object is gone. */
  forget(key: string): void {
    this.#expected.delete(key)
  }

  #entry(key: string): Expected {
    let entry = this.#expected.get(key)
    if (!entry) {
      entry = { creations: 0, deletions: new Set(), since: this.#clock.monotonic() }
      this.#expected.set(key, entry)
    }
    return entry
  }
}

/**
 * Calls `action` `count` times, in batches of 1, 2, 4, ...: if the first fails, say because of a quota, the other
 * thousand are not even tried. Resolves with the number that succeeded; rejects never: `error` is the first failure.
 */
export async function slowStart(
  count: number,
  action: (index: number) => Promise<unknown>,
): Promise<{ readonly succeeded: number; readonly error?: unknown }> {
  let succeeded = 0
  for (let start = 0, size = 1; start < count; start += size, size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - start) }, (_, index) => action(start + index))
    const results = await Promise.allSettled(batch)
    const failed = results.find(result => result.status === 'rejected')
    succeeded += results.filter(result => result.status === 'fulfilled').length
    if (failed) return { succeeded, error: failed.reason }
  }
  return { succeeded }
}
