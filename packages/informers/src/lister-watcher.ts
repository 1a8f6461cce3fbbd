import type { ApiList, ApiObject } from '@coxswain/apimachinery/meta'

/** The parameters of a list request. */
export interface ListQuery {
  readonly resourceVersion: string
  readonly limit?: number
  readonly continue?: string
}

/** The parameters of a watch request. */
export interface WatchQuery {
  readonly resourceVersion: string
  readonly timeoutSeconds: number
  readonly allowWatchBookmarks: true
  /** Requests the initial state first (a watch-list); requires `resourceVersionMatch`. */
  readonly sendInitialEvents?: true
  readonly resourceVersionMatch?: 'NotOlderThan'
  /** `metadata.managedFields` would be dropped: a source that can omit them saves decoding. */
  readonly omitManagedFields?: true
}

/** The object of a bookmark event, which has only a resourceVersion. */
export interface BookmarkObject {
  readonly metadata: {
    readonly resourceVersion: string
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** One event of a watch. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: BookmarkObject }

/** One collection of a server: a resource, in one namespace or all, optionally restricted by selectors. */
export interface ListerWatcher<T extends ApiObject = ApiObject> {
  /** One page. Rejects with a `StatusError` if the server rejects the request. The caller owns the objects. */
  list(query: ListQuery, signal: AbortSignal): Promise<ApiList<T>>
  /**
   * Ends when the server ends the watch, and soon after `signal` aborts. Throws the `StatusError` of an ERROR event, or
   * whatever broke the stream.
   */
  watch(query: WatchQuery, signal: AbortSignal): AsyncIterable<WatchEvent<T>>
}
