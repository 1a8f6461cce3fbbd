import { createAbortError, type Env } from '@coxswain/kit'
import type { Change, KeyValue, Store } from '@coxswain/storage'
import { ResourceCache } from './resource-cache.ts'
import { StoredObject } from './stored-object.ts'

export interface WatchCacheOptions {
  readonly store: Store
  readonly env: Env
}

/** How much history is read at start, so that watches survive a restart of the server. */
const replayedRevisions = 5_000
const loadPageSize = 10_000

interface Waiter {
  readonly revision: number
  readonly resolve: () => void
}

/**
 * The store's content in memory, one {@link ResourceCache} per resource, fed by a single watch over the whole store, so
 * that a single revision tells how fresh all of it is.
 *
 * Keys are `/GROUP/RESOURCE/NAMESPACE/NAME` or `/GROUP/RESOURCE/NAME`; the core group is `core`.
 */
export class WatchCache {
  readonly #store: Store
  readonly #env: Env
  readonly #resources = new Map<string, ResourceCache>()
  #revision = 0
  #isLoaded = false
  #floor = 0
  #waiters: Waiter[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(options: WatchCacheOptions) {
    this.#store = options.store
    this.#env = options.env
  }

  /** Everything up to this revision has been seen. */
  get revision(): number {
    return this.#revision
  }

  /** Whether the state at the start has been loaded. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Why the cache can no longer follow the store; undefined while it can. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  /** `prefix` is `/GROUP/RESOURCE/`. */
  resource(prefix: string): ResourceCache {
    let cache = this.#resources.get(prefix)
    if (!cache) {
      cache = new ResourceCache(prefix, this.#floor)
      this.#resources.set(prefix, cache)
    }
    return cache
  }

  /** Discards every resource's history up to now: earlier revisions are too old for watches. */
  forgetHistory(): void {
    this.#floor = this.#revision
    for (const resource of this.#resources.values()) resource.forgetHistory(this.#revision)
  }

  /** Ends every watch of every resource. */
  endWatches(): void {
    for (const resource of this.#resources.values()) resource.endWatches()
  }

  /** Reads the current state and some history. Call once, before `run`. */
  async load(): Promise<void> {
    const { revision, compactedRevision } = await this.#store.status()
    this.#floor = Math.max(compactedRevision, revision - replayedRevisions)
    let start: string | undefined
    for (;;) {
      const page = await this.#store.range('/', {
        revision,
        limit: loadPageSize,
        ...(start !== undefined && { start }),
      })
      for (const kv of page.items) this.#cacheOf(kv.key)?.load(toStoredObject(kv))
      if (!page.more) break
      start = `${page.items.at(-1)!.key}\0`
    }
    if (revision > this.#floor) await this.#replay(this.#floor + 1, revision)
    this.#revision = revision
    this.#isLoaded = true
  }

  /** Follows the store until `signal` aborts. Rejects when the store fails: the server cannot continue then. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      const batches = this.#store.watch('/', { from: this.#revision + 1, progress: true, signal })
      for await (const batch of batches) {
        for (const change of batch.changes) this.#apply(change)
        this.#revision = batch.revision
        this.#wake()
      }
    } catch (error) {
      if (!signal.aborted) {
        this.#failure = { error }
        throw error
      }
    } finally {
      // No more revisions will be seen: waiters must not wait forever.
      this.#failure ??= { error: createAbortError('the server has stopped') }
      this.#wake()
    }
  }

  /** Resolves when everything up to `revision` has been seen. */
  waitFor(revision: number): Promise<void> | undefined {
    if (this.#revision >= revision) return undefined
    if (this.#failure) return Promise.reject(this.#failure.error)
    return new Promise((resolve, reject) => {
      this.#waiters.push({
        revision,
        resolve: () => (this.#failure ? reject(this.#failure.error) : resolve()),
      })
    })
  }

  /** Resolves when the cache is at least as new as the store was at the time of the call; undefined when it already is. */
  fresh(): Promise<void> | undefined {
    const revision = this.#store.revisionNow?.()
    return revision === undefined ? this.#freshFromStore() : this.waitFor(revision)
  }

  async #freshFromStore(): Promise<void> {
    const { revision } = await this.#store.status()
    await this.waitFor(revision)
  }

  /** As `waitFor`, but gives up after `ms`. Returns whether the revision was reached. */
  async reaches(revision: number, ms: number, signal: AbortSignal): Promise<boolean> {
    const wait = this.waitFor(revision)
    if (!wait) return true
    const timer = new AbortController()
    const stop = AbortSignal.any([timer.signal, signal])
    try {
      return await Promise.race([
        wait.then(() => true),
        this.#env.clock.sleep(ms, { signal: stop }).then(() => false),
      ])
    } finally {
      timer.abort()
    }
  }

  #wake(): void {
    if (this.#waiters.length === 0) return
    const waiting = this.#waiters
    this.#waiters = []
    for (const waiter of waiting) {
      if (this.#failure || waiter.revision <= this.#revision) waiter.resolve()
      else this.#waiters.push(waiter)
    }
  }

  #apply(change: Change): void {
    if (change.type === 'put') this.#cacheOf(change.kv.key)?.put(toStoredObject(change.kv))
    else this.#cacheOf(change.key)?.delete(change.key, change.revision)
  }

  /** Fills the histories with changes that the loaded state already contains. */
  async #replay(from: number, to: number): Promise<void> {
    for await (const batch of this.#store.watch('/', { from, previous: true, progress: true })) {
      for (const change of batch.changes) {
        const key = change.type === 'put' ? change.kv.key : change.key
        const cache = this.#cacheOf(key)
        if (!cache) continue
        const previous = change.previous && toStoredObject(change.previous)
        if (change.type === 'put') {
          const object = toStoredObject(change.kv)
          cache.addHistory({
            revision: object.revision,
            type: previous ? 'MODIFIED' : 'ADDED',
            object,
            previous,
          })
        } else if (previous) {
          cache.addHistory({
            revision: change.revision,
            type: 'DELETED',
            object: previous.at(change.revision),
            previous: undefined,
          })
        }
      }
      if (batch.revision >= to) return
    }
  }

  #cacheOf(key: string): ResourceCache | undefined {
    const group = key.indexOf('/', 1)
    const resource = key.indexOf('/', group + 1)
    return group < 0 || resource < 0 ? undefined : this.resource(key.slice(0, resource + 1))
  }
}

/** Splits `/GROUP/RESOURCE/[NAMESPACE/]NAME`. */
function toStoredObject(kv: KeyValue): StoredObject {
  const { key } = kv
  const start = key.indexOf('/', key.indexOf('/', 1) + 1) + 1
  const slash = key.indexOf('/', start)
  const namespace = slash < 0 ? '' : key.slice(start, slash)
  return new StoredObject(key, namespace, key.slice(slash < 0 ? start : slash + 1), kv.modRevision, kv.value)
}
