import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { isOlder } from '@coxswain/informers'

/** How far a cache has come. */
export interface Progress {
  readonly resourceVersion: string | undefined
  readonly epoch: number
}

/** An object, and its version. */
export interface LastSeen {
  readonly uid: string
  readonly resourceVersion: string
}

type Written =
  | { readonly object: DeepReadonly<ApiObject>; readonly epoch: number }
  /** The object was deleted; this was its last known version. */
  | { readonly deleted: LastSeen; readonly epoch: number }

const pruneSize = 256

/**
 * This program's writes that its cache of one collection may not show yet. Laid over the cache, reads see their own
 * writes; an entry is dropped as soon as the cache has caught up with it.
 */
export class OwnWrites {
  readonly #written = new Map<string, Written>()

  /** The number of entries at which all are checked: those that are never read would stay otherwise. */
  #pruneAt = pruneSize

  get size(): number {
    return this.#written.size
  }

  keys(): readonly string[] {
    return [...this.#written.keys()]
  }

  /** The server has answered a write with this object. */
  wrote(key: string, object: DeepReadonly<ApiObject>, progress: Progress): void {
    if (isFinallyDeleted(object)) {
      this.deleted(key, object.metadata, progress)
      return
    }
    const { epoch } = progress
    const before = this.#written.get(key)
    // Answers may arrive out of order.
    if (before && 'object' in before && before.epoch === epoch) {
      if (isOlder(object.metadata.resourceVersion, before.object.metadata.resourceVersion)) return
    }
    this.#written.set(key, { object, epoch })
  }

  /** The server has deleted the object of which this was the last known version. */
  deleted(key: string, { uid, resourceVersion }: LastSeen, { epoch }: Progress): void {
    this.#written.set(key, { deleted: { uid, resourceVersion }, epoch })
  }

  /** Drops entries that the cache has caught up with. */
  prune(cachedOf: (key: string) => DeepReadonly<ApiObject> | undefined, progress: Progress): void {
    if (this.#written.size < this.#pruneAt) return
    for (const key of this.keys()) this.resolve(key, cachedOf(key), progress)
    this.#pruneAt = Math.max(pruneSize, this.#written.size * 2)
  }

  /** The object that a read returns when the cache has `cached`. */
  resolve(
    key: string,
    cached: DeepReadonly<ApiObject> | undefined,
    progress: Progress,
  ): DeepReadonly<ApiObject> | undefined {
    const written = this.#written.get(key)
    if (!written) return cached
    if (isAhead(written, cached, progress)) return 'object' in written ? written.object : undefined
    this.#written.delete(key)
    return cached
  }
}

/** Whether this write has deleted a terminating object. The answer then has the previous version. */
function isFinallyDeleted({ metadata }: DeepReadonly<ApiObject>): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0
}

/** Whether the cache does not have `written` yet. */
function isAhead(written: Written, cached: DeepReadonly<ApiObject> | undefined, progress: Progress): boolean {
  if (written.epoch !== progress.epoch) return false
  if ('deleted' in written && cached?.metadata.uid === written.deleted.uid) return true
  // An object that the cache does not have may be deleted, or not have arrived yet, even if it is deleted by now.
  const { resourceVersion } = 'deleted' in written ? written.deleted : written.object.metadata
  const seen = cached ? cached.metadata.resourceVersion : progress.resourceVersion
  return seen === undefined || isOlder(seen, resourceVersion)
}
