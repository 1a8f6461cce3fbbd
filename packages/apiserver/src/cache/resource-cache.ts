import type { StoredObject } from './stored-object.ts'

/** One change of one object, shared by all watchers. */
export interface CacheEvent {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** For DELETED: the last state, carrying the revision of the deletion. */
  readonly object: StoredObject
  /** The state before, for MODIFIED. */
  readonly previous: StoredObject | undefined
}

export interface CacheWatcher {
  /** Only objects of this namespace; every one when empty. */
  readonly namespace: string
  /** Called in the order of revisions. Must not throw. */
  onEvent(event: CacheEvent): void
  /** The resource is gone or has changed its shape: no more events will come. */
  onEnd(): void
}

/** What a stored object looks like today; the object itself when nothing has changed since it was written. */
export type ObjectReader = (object: StoredObject) => StoredObject

/** Events kept for watches that begin in the past, and the bytes of their objects. Up to twice as much is kept. */
const historyLimit = { events: 10_000, bytes: 128 * 1024 * 1024 }

/** All objects of one resource in the order of their keys, and its most recent changes. */
export class ResourceCache {
  readonly prefix: string
  /** Sorted by key. */
  readonly #sorted: StoredObject[] = []
  readonly #byKey = new Map<string, StoredObject>()
  /** Oldest first; every change after `#floor` is here. */
  #history: CacheEvent[] = []
  /** Of the objects of all of them. */
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

  /** Objects whose key starts with `keyPrefix`, in the order of keys, from `start` on. */
  list(keyPrefix: string = this.prefix, start: string = keyPrefix): readonly StoredObject[] {
    const from = this.#search(start)
    if (keyPrefix === this.prefix) return from === 0 ? this.#sorted : this.#sorted.slice(from)
    return this.#sorted.slice(from, this.#search(`${keyPrefix.slice(0, -1)}0`))
  }

  /** Changes up to and including this revision are forgotten. */
  get floor(): number {
    return this.#floor
  }

  /** Whether changes from `revision` on are all still known. */
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
   * Puts what `reader` makes of each object in its place, without an event, and does so with what comes from now on,
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

  /** Begins history anew after `revision`. */
  forgetHistory(revision: number): void {
    this.#history = []
    this.#historyBytes = 0
    this.#floor = revision
  }

  /** Takes an object over at start, without an event. Keys must come in order. */
  load(object: StoredObject): void {
    this.#byKey.set(object.key, object)
    this.#sorted.push(object)
  }

  /** Adds a change that happened before the state that was loaded: for watches that begin in the past. */
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
