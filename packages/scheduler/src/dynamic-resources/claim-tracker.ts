import { ResourceClaim } from '@coxswain/api/resource/v1'
import { formatKey, type ObjectKey } from '@coxswain/apimachinery/meta'
import { isOlder } from '@coxswain/informers'
import type { SchedulerHandle } from '../plugin.ts'
import type { ClaimView } from './device-id.ts'

/**
 * Claims as the scheduler sees them: those in its cache, those that it has written but not observed yet, and those with a pending
 * write. All profiles of a scheduler share one.
 */
export class ClaimTracker {
  readonly #handle: SchedulerHandle
  /** By key. */
  readonly #written = new Map<string, ClaimView>()
  /** With allocations that are not written yet, by uid. */
  readonly #pending = new Map<string, ClaimView>()

  constructor(handle: SchedulerHandle) {
    this.#handle = handle
  }

  get(key: ObjectKey): ClaimView | undefined {
    const cached = this.#handle.get(ResourceClaim, key)
    return cached && this.#newest(cached)
  }

  isPending(uid: string): boolean {
    return this.#pending.has(uid)
  }

  /** A claim that does not exist yet is pending under a generated uid. */
  setPending(uid: string, claim: ClaimView): void {
    this.#pending.set(uid, claim)
  }

  /** The allocation was written, or will not be. */
  settle(uid: string, written?: ClaimView): void {
    this.#pending.delete(uid)
    if (written) this.#written.set(keyOf(written), written)
  }

  /** All claims with allocations, including pending ones. */
  *allocated(): Generator<ClaimView> {
    yield* this.#pending.values()
    for (const claim of this.#handle.list(ResourceClaim)) {
      const newest = this.#newest(claim)
      if (newest.status?.allocation && !this.#pending.has(newest.metadata.uid)) yield newest
    }
  }

  #newest(cached: ClaimView): ClaimView {
    const key = keyOf(cached)
    const written = this.#written.get(key)
    if (!written) return cached
    const isAhead =
      written.metadata.uid === cached.metadata.uid &&
      isOlder(cached.metadata.resourceVersion, written.metadata.resourceVersion)
    if (isAhead) return written
    this.#written.delete(key)
    return cached
  }
}

function keyOf({ metadata }: ClaimView): string {
  return formatKey({ namespace: metadata.namespace ?? '', name: metadata.name })
}

const trackers = new WeakMap<SchedulerHandle, ClaimTracker>()

export function trackerOf(handle: SchedulerHandle): ClaimTracker {
  let tracker = trackers.get(handle)
  if (!tracker) {
    tracker = new ClaimTracker(handle)
    trackers.set(handle, tracker)
  }
  return tracker
}
