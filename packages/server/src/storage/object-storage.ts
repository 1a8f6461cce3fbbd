import type { ApiObject, ObjectKey } from '@coxswain/apimachinery/meta'

/**
 * Where the objects of a kind are: five functions over any database. `testStorage` checks that they keep this contract.
 *
 * Versions are whole numbers as text. One counter serves all objects of the kind: every change gets a higher version than all
 * before it, deletions included, and an object's `metadata.resourceVersion` is that of its last change. A put or deletion
 * that has resolved is delivered by every watch, and that delivery is what the client of the write waits for.
 */
export interface ObjectStorage<T extends ApiObject = ApiObject> {
  /** The object with its resourceVersion; undefined when there is none. */
  get(key: ObjectKey): Promise<T | undefined>
  /** All objects, and the version of that state: no object in it has a higher one. */
  list(): Promise<StoredList<T>>
  /**
   * The changes after a version, in the order of their versions, each once. Ends when `signal` aborts. Throws
   * `newResourceExpired` when those changes are no longer known: the server lists again then. Any other error is logged, and
   * the watch is started again where it ended.
   */
  watch(options: StorageWatchOptions): AsyncIterable<StorageEvent<T>>
  /**
   * Stores the object if what is there has the version `expected`, or nothing is there when that is undefined. Resolves with
   * the new version once it is durable, or with undefined when the condition does not hold: nothing is changed then. The
   * object has no resourceVersion.
   */
  put(object: T, expected: string | undefined): Promise<string | undefined>
  /** Deletes the object if it has the version `expected`. Resolves with the version of the deletion, or undefined as `put`. */
  delete(key: ObjectKey, expected: string): Promise<string | undefined>
  /**
   * The version of the newest change. With it, reads see everything that other processes had stored before;
   * without it, what the watch has delivered. @default unknown
   */
  version?(): Promise<string>
}

/** The objects at one version. */
export interface StoredList<T extends ApiObject = ApiObject> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

/** Where a watch of an {@link ObjectStorage} begins, and when it ends. */
export interface StorageWatchOptions {
  readonly resourceVersion: string
  readonly signal: AbortSignal
}

/** A change. The object of a deletion needs its name and namespace only; its resourceVersion is that of the deletion. */
export interface StorageEvent<T extends ApiObject = ApiObject> {
  readonly type: 'PUT' | 'DELETED'
  readonly object: T | (Pick<ApiObject, 'metadata'> & Partial<T>)
}
