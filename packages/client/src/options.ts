import type { ApiObject } from '@coxswain/apimachinery/meta'
import type { Span } from '@coxswain/kit'

/** What every call takes. */
export interface CallOptions {
  /** Gives up: the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal
  /** Milliseconds until the call is given up, retries included. @default the client's `timeout` */
  readonly timeout?: number
  /** What the call is a part of, where traces are made. @default the active span of the process */
  readonly span?: Span
}

export interface GetOptions extends CallOptions {
  /** Absent: the most recent state. `'0'`: whatever the server has at hand. */
  readonly resourceVersion?: string
}

export interface SelectorOptions {
  /** Absent: every namespace. Not allowed for cluster-scoped kinds. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface ListOptions extends CallOptions, SelectorOptions {
  /** At most so many items; the answer's `metadata.continue` then leads on. */
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Seconds the server may take. */
  readonly timeoutSeconds?: number
}

export interface WatchOptions extends SelectorOptions, Pick<CallOptions, 'signal' | 'span'> {
  /** Events after this one. Absent or `'0'`: some present state first, then what follows. */
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan'
  /** Seconds after which the server ends the watch. The iteration then ends without an error. */
  readonly timeoutSeconds?: number
  /** @default true */
  readonly allowWatchBookmarks?: boolean
  /** The present state as ADDED events, then a BOOKMARK annotated `k8s.io/initial-events-end`, then what follows. */
  readonly sendInitialEvents?: boolean
  /** Leave `metadata.managedFields` out, which saves half the work of reading an event. Some may come all the same. @default false */
  readonly omitManagedFields?: boolean
}

export interface WriteOptions extends CallOptions {
  /** Checks and answers, but stores nothing. @default false */
  readonly dryRun?: boolean
  /** The name under which managedFields records what this write set. @default the client's `fieldManager` */
  readonly fieldManager?: string
  /** What happens to unknown and duplicate fields. @default the server's (Warn) */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export type PatchType = 'json' | 'merge' | 'strategic'

export interface PatchOptions extends WriteOptions {
  /** `json` is RFC 6902 (an array of operations), `merge` RFC 7386. Custom resources know no `strategic`. @default 'merge' */
  readonly type?: PatchType
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that another manager owns, where a conflict would be the answer. @default false */
  readonly force?: boolean
}

export interface DeleteOptions extends CallOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  /** The deletion is refused (409) unless the object still is this one. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly gracePeriodSeconds?: number
  /** @default false */
  readonly dryRun?: boolean
}

export interface DeleteAllOptions extends DeleteOptions, SelectorOptions {
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

/** What a BOOKMARK carries: how far the watch has come, and nothing else. */
export interface Bookmark {
  apiVersion: string
  kind: string
  metadata: { resourceVersion: string; annotations?: Record<string, string> }
}

export type WatchEvent<T = ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: Bookmark }

/** A `Warning` header of an answer (RFC 7234, code 299), as the API server sends for deprecated or unknown things. */
export interface Warning {
  readonly code: number
  readonly agent: string
  readonly text: string
}
