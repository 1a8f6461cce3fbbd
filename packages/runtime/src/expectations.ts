import type { Clock } from '@coxswain/kit'

interface Expected {
  creations: number
  /** The uids of expected deletions. */
  readonly deletions: Set<string>
  readonly since: number
}

/** Unmet expectations expire after this time: an event was lost, or never came. */
const expiry = 300_000

/**
 * The creations and deletions that a controller still waits to observe in its cache before it counts again. Reads of
 * an operator's client show its own writes already; this is for counting from events and indexes instead.
 */
export class Expectations {
  readonly #clock: Clock
  readonly #expected = new Map<string, Expected>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Expects `count` creations for `key`. */
  expectCreations(key: string, count: number): void {
    this.#entry(key).creations += count
  }

  /** Expects the deletion of the objects with these uids for `key`. */
  expectDeletions(key: string, uids: Iterable<string>): void {
    const { deletions } = this.#entry(key)
    for (const uid of uids) deletions.add(uid)
  }

  /** A creation was observed, or has failed. */
  creationObserved(key: string): void {
    const expected = this.#expected.get(key)
    if (expected && expected.creations > 0) expected.creations--
  }

  /** A deletion was observed, or has failed. */
  deletionObserved(key: string, uid: string): void {
    this.#expected.get(key)?.deletions.delete(uid)
  }

  /** Whether everything expected was observed, or has expired. */
  satisfied(key: string): boolean {
    const expected = this.#expected.get(key)
    if (!expected) return true
    const met = expected.creations === 0 && expected.deletions.size === 0
    if (met || this.#clock.monotonic() - expected.since > expiry) this.#expected.delete(key)
    return !this.#expected.has(key)
  }

  /** Deletes the expectations of an object that was deleted. */
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
 * thousand are not even tried. Resolves with the number that succeeded; never rejects: `error` is the first failure.
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
