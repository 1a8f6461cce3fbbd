import type { ApiObject, DeepReadonly } from '@coxswain/apimachinery/meta'
import { isOlder } from '@coxswain/informers'

/** What a cache says about how far it has come. */
export interface Progress {
  readonly resourceVersion: string | undefined
  readonly epoch: number
}

/** Which object, and when. */
export interface LastSeen {
  readonly uid: string
  readonly resourceVersion: string
}

type Written =
  | { readonly object: DeepReadonly<ApiObject>; readonly epoch: number }
  /** The object is gone of which this was the last state that we know. */
  | { readonly deleted: LastSeen; readonly epoch: number }

const pruneSize = 256

/**
 * What this program wrote and its cache of one collection may not show yet. Laid over the cache, reads see their own
 * writes; an entry goes as soon as the cache has caught up with it.
 */
export class OwnWrites {
  readonly #written = new Map<string, Written>()

  /** How many entries lead to a look through all of them: those nobody reads would stay otherwise. */
  #pruneAt = pruneSize

  get size(): number {
    return this.#written.size
  }

  keys(): readonly string[] {
    return [...this.#written.keys()]
  }

  /** The server has answered a write with this object. */
  wrote(key: string, object: DeepReadonly<ApiObject>, progress: Progress): void {
    if (isGone(object)) {
      this.deleted(key, object.metadata, progress)
      return
    }
    const { epoch } = progress
    const before = this.#written.get(key)
    // Answers may come in another order than the writes were made.
    if (before && 'object' in before && before.epoch === epoch) {
      if (isOlder(object.metadata.resourceVersion, before.object.metadata.resourceVersion)) return
    }
    this.#written.set(key, { object, epoch })
  }

  /** The server has said that the object is gone which we last saw as `last`. */
  deleted(key: string, { uid, resourceVersion }: LastSeen, { epoch }: Progress): void {
    this.#written.set(key, { deleted: { uid, resourceVersion }, epoch })
  }

  /** Drops what the cache has caught up with, now and then. */
  prune(cachedOf: (key: string) => DeepReadonly<ApiObject> | undefined, progress: Progress): void {
    if (this.#written.size < this.#pruneAt) return
    for (const key of this.keys()) this.resolve(key, cachedOf(key), progress)
    this.#pruneAt = Math.max(pruneSize, this.#written.size * 2)
  }

  /** What a read has to answer when the cache has `cached`. */
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

/** Whether the write was the last that the object waited for. The version it carries then is that of before. */
function isGone({ metadata }: DeepReadonly<ApiObject>): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0
}

/** Whether the cache has yet to learn of `written`. */
function isAhead(written: Written, cached: DeepReadonly<ApiObject> | undefined, progress: Progress): boolean {
  if (written.epoch !== progress.epoch) return false
  if ('deleted' in written && cached?.metadata.uid === written.deleted.uid) return true
  // What the cache does not have may be gone, or yet to come: even something that is deleted by now.
  const { resourceVersion } = 'deleted' in written ? written.deleted : written.object.metadata
  const seen = cached ? cached.metadata.resourceVersion : progress.resourceVersion
  return seen === undefined || isOlder(seen, resourceVersion)
}
