import type { StoredObject } from './stored-object.ts'

/** One change of one object, shared by all watchers. */
export interface CacheEvent {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** For DELETED: the last state, with the revision of the deletion. */
  readonly object: StoredObject
  /** The previous state, for MODIFIED. */
  readonly previous: StoredObject | undefined
}

export interface CacheWatcher {
  /** Only objects of this namespace; all when empty. */
  readonly namespace: string
  /** Called in revision order. Must not throw. */
  onEvent(event: CacheEvent): void
  /** The resource was removed or its schema changed: no more events follow. */
  onEnd(): void
}

/** Converts a stored object to the current schema; returns the same object when nothing changes. */
export type ObjectReader = (object: StoredObject) => StoredObject

/** How many events, and bytes of their objects, are kept for watches that begin in the past. Up to twice as much is kept. */
const historyLimit = { events: 10_000, bytes: 128 * 1024 * 1024 }

/** All objects of one resource in key order, and its most recent changes. */
export class ResourceCache {
  readonly prefix: string
  /** Sorted by key. */
  readonly #sorted: StoredObject[] = []
  readonly #byKey = new Map<string, StoredObject>()
  /** Oldest first; every change after `#floor` is here. */
  #history: CacheEvent[] = []
  /** Total bytes of their objects. */
  #historyBytes = 0
  /** Changes up to and including this revision are forgotten. */
  #floor: number
  readonly #watchers = new Set<CacheWatcher>()
  #reader: ObjectReader | undefined

  constructor(prefix: string, floor: number) {
    this.prefix = prefix
    this.#floor = floor
  }

  get size(): number {
    return this.#sorted.length
  }

  get watcherCount(): number {
    return this.#watchers.size
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key)
  }

  /** Objects whose key starts with `keyPrefix`, in key order, from `start` on. */
  list(keyPrefix: string = this.prefix, start: string = keyPrefix): readonly StoredObject[] {
    const from = this.#search(start)
    if (keyPrefix === this.prefix) return from === 0 ? this.#sorted : this.#sorted.slice(from)
    return this.#sorted.slice(from, this.#search(`${keyPrefix.slice(0, -1)}0`))
  }

  /** Changes up to and including this revision are forgotten. */
  get floor(): number {
    return this.#floor
  }

  /** Whether all changes from `revision` on are still kept. */
  covers(revision: number): boolean {
    return revision > this.#floor
  }

  /** Changes from `revision` on, oldest first. Only where {@link covers}. */
  since(revision: number): readonly CacheEvent[] {
    let low = 0
    let high = this.#history.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#history[middle]!.revision < revision) low = middle + 1
      else high = middle
    }
    return this.#history.slice(low)
  }

  addWatcher(watcher: CacheWatcher): void {
    this.#watchers.add(watcher)
  }

  removeWatcher(watcher: CacheWatcher): void {
    this.#watchers.delete(watcher)
  }

  /** Ends every watch. */
  endWatches(): void {
    const watchers = [...this.#watchers]
    this.#watchers.clear()
    for (const watcher of watchers) watcher.onEnd()
  }

  /**
   * Replaces each object with what `reader` returns, without an event, and applies it to later objects too,
   * until the next call.
   */
  setReader(reader: ObjectReader | undefined): void {
    this.#reader = reader
    if (!reader) return
    for (const [index, object] of this.#sorted.entries()) {
      const read = reader(object)
      if (read === object) continue
      this.#sorted[index] = read
      this.#byKey.set(read.key, read)
    }
  }

  /** Discards the history up to and including `revision`. */
  forgetHistory(revision: number): void {
    this.#history = []
    this.#historyBytes = 0
    this.#floor = revision
  }

  /** Adds an object at start, without an event. Keys must come in order. */
  load(object: StoredObject): void {
    this.#byKey.set(object.key, object)
    this.#sorted.push(object)
  }

  /** Adds a change that precedes the loaded state: for watches that begin in the past. */
  addHistory(event: CacheEvent): void {
    this.#history.push(event)
    this.#historyBytes += event.object.size
  }

  put(written: StoredObject): void {
    const object = this.#reader ? this.#reader(written) : written
    const previous = this.#byKey.get(object.key)
    this.#byKey.set(object.key, object)
    const index = this.#search(object.key)
    if (previous) this.#sorted[index] = object
    else this.#sorted.splice(index, 0, object)
    this.#emit({ revision: object.revision, type: previous ? 'MODIFIED' : 'ADDED', object, previous })
  }

  delete(key: string, revision: number): void {
    const previous = this.#byKey.get(key)
    if (!previous) return
    this.#byKey.delete(key)
    this.#sorted.splice(this.#search(key), 1)
    this.#emit({ revision, type: 'DELETED', object: previous.at(revision), previous: undefined })
  }

  #emit(event: CacheEvent): void {
    this.#history.push(event)
    this.#historyBytes += event.object.size
    if (this.#history.length >= 2 * historyLimit.events || this.#historyBytes >= 2 * historyLimit.bytes)
      this.#forgetOldest()
    for (const watcher of this.#watchers) {
      if (watcher.namespace === '' || watcher.namespace === event.object.namespace) watcher.onEvent(event)
    }
  }

  #forgetOldest(): void {
    let forgotten = 0
    while (
      this.#history.length - forgotten > historyLimit.events ||
      this.#historyBytes > historyLimit.bytes
    ) {
      const { object, revision } = this.#history[forgotten++]!
      this.#historyBytes -= object.size
      this.#floor = revision
    }
    this.#history = this.#history.slice(forgotten)
  }

  /** The index of the first object whose key is not below `key`. */
  #search(key: string): number {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]!.key < key) low = middle + 1
      else high = middle
    }
    return low
  }
}
