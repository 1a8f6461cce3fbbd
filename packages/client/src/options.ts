import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { Span } from '@coxswain/kit'

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** The timeout of the call in milliseconds, retries included. @default the client's `timeout` */
  readonly timeout?: number
  /** What the call is a part of, where traces are made. @default the active span of the process */
  readonly span?: Span
}

/** Options of a get. */
export interface GetOptions extends CallOptions {
  /** Absent: the most recent state. `'0'`: any state that the server has cached. */
  readonly resourceVersion?: string
}

/** Which objects of a collection a call is for. */
export interface SelectorOptions {
  /** Absent: every namespace. Not allowed for cluster-scoped kinds. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** Options of a list. */
export interface ListOptions extends CallOptions, SelectorOptions {
  /** The most items; the answer's `metadata.continue` then leads to the next page. */
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** The timeout on the server in seconds. */
  readonly timeoutSeconds?: number
}

/** Options of a watch. */
export interface WatchOptions extends SelectorOptions, Pick<CallOptions, 'signal' | 'span'> {
  /** Events after this one. Absent or `'0'`: some present state first, then what follows. */
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  /** Seconds after which the server ends the watch. The iteration then ends without an error. */
  readonly timeoutSeconds?: number
  /** @default true */
  readonly allowWatchBookmarks?: boolean
  /** The current state as ADDED events, then a BOOKMARK annotated `k8s.io/initial-events-end`, then changes. */
  readonly sendInitialEvents?: boolean
  /** Leave `metadata.managedFields` out, which saves half the cost of parsing an event. Some events may still have them. @default false */
  readonly omitManagedFields?: boolean
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Validates, but stores nothing. @default false */
  readonly dryRun?: boolean
  /** The name under which managedFields records what this write set. @default the client's `fieldManager` */
  readonly fieldManager?: string
  /** What happens to unknown and duplicate fields. @default the server's (Warn) */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

/** JSON patch, JSON merge patch or strategic merge patch. */
export type PatchType = 'json' | 'merge' | 'strategic'

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  /** `json` is RFC 6902 (an array of operations), `merge` RFC 7386. Custom resources do not support `strategic`. @default 'merge' */
  readonly type?: PatchType
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that another manager owns, instead of failing with a conflict. @default false */
  readonly force?: boolean
}

/** Options of a deletion. */
export interface DeleteOptions extends CallOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  /** The deletion is rejected (409) unless the object still matches. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly gracePeriodSeconds?: number
  /** @default false */
  readonly dryRun?: boolean
}

/** Options of the deletion of a collection. */
export interface DeleteAllOptions extends DeleteOptions, SelectorOptions {
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

/** The object of a BOOKMARK: only the resourceVersion of the watch. */
export interface Bookmark {
  apiVersion: string
  kind: string
  metadata: { resourceVersion: string; annotations?: Record<string, string> }
}

/** One event of a watch. */
export type WatchEvent<T = ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: Bookmark }

/** A `Warning` header of an answer (RFC 7234, code 299), as the API server sends for deprecated or unknown things. */
export interface Warning {
  readonly code: number
  readonly agent: string
  readonly text: string
}
