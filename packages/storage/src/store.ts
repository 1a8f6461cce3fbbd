import type { StoreError } from './errors.ts'

/**
 * A revisioned key-value store, in the terms of etcd.
 *
 * One counter for the whole store: every transaction that changes something gets the next revision. Keys are ASCII
 * strings in character order; values are bytes that belong to the store once given and must not be changed,
 * neither by writers nor by readers.
 *
 * A write is acknowledged, visible to reads and sent to watchers only when it is durable.
 */
export interface Store extends AsyncDisposable {
  /** The newest durable value of `key`, or the one it had at `revision`. */
  get(key: string, options?: GetOptions): Promise<GetResult>
  /** Keys that start with `prefix`, in order. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>
  /** Executes all of `operations` if every condition holds, otherwise none. Resolves when the outcome is durable. */
  transact(transaction: Transaction): Promise<TransactionResult>
  /**
   * Changes to keys that start with `prefix`, from a revision on, in the order of revisions, without gap or duplicate,
   * all changes of one transaction in one batch. Begins when the first batch is requested; has one consumer. Ends when
   * the consumer leaves the loop or `signal` aborts; throws `Compacted` when history was compacted, `FutureRevision` when
   * `from` is beyond the next revision, `SlowWatcher` when the consumer lags too far behind, `Closed` with the store.
   */
  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch>
  /** Compacts history before `revision`: the state at `revision` and everything after stays readable. */
  compact(revision: number): Promise<void>
  /** Requests a progress notification, after all pending changes, from every watch with `progress`. */
  requestProgress(): void
  /** The newest durable revision and the oldest readable one. */
  status(): Promise<StoreStatus>
  /** The newest durable revision synchronously, if no other process can write. @default unknown without a call */
  revisionNow?(): number
  /** Why writes currently fail; undefined once one succeeds again. @default not known to fail */
  writeFailure?(): StoreError | undefined
  /** Whether the value of `key` should be rewritten even when it would not change. @default never */
  isStale?(key: string): Promise<boolean>
  /** Waits for pending writes, ends every watch and releases the disk or network. */
  close(): Promise<void>
}

/** A key with its value and revisions, as in etcd. */
export interface KeyValue {
  readonly key: string
  /** Empty in keys-only ranges. */
  readonly value: Uint8Array
  /** The revision of the last change. */
  readonly modRevision: number
  /** The revision at which the key was created. */
  readonly createRevision: number
  /** The number of writes since then, starting at 1. */
  readonly version: number
}

/** Options of {@link Store.get}. */
export interface GetOptions {
  /** Throws `Compacted` or `FutureRevision` when it cannot be read. @default the newest */
  readonly revision?: number
}

/** A key's value, if it exists, and the store's revision. */
export interface GetResult {
  readonly kv: KeyValue | undefined
  /** The store's revision at the time of the read. */
  readonly revision: number
}

/** Options of {@link Store.range}. */
export interface RangeOptions extends GetOptions {
  /** The maximum number of items; `more` then says whether there are others. @default all */
  readonly limit?: number
  /** The first key, inclusive. @default the first with the prefix */
  readonly start?: string
  /** @default false */
  readonly keysOnly?: boolean
  /** Only `count`, no items. @default false */
  readonly countOnly?: boolean
}

/** A page of keys at one revision. */
export interface RangeResult {
  readonly items: readonly KeyValue[]
  readonly more: boolean
  /** The number of keys from `start` on, whatever the limit. */
  readonly count: number
  /** The revision of this state. */
  readonly revision: number
}

/** What must hold for a transaction to commit. */
export interface Condition {
  readonly key: string
  /** The revision of the key's last change; 0 means the key must be absent. */
  readonly modRevision: number
}

/** A put or deletion in a transaction. */
export type Operation =
  | {
      readonly type: 'put'
      readonly key: string
      readonly value: Uint8Array /** Milliseconds to live. */
      readonly ttl?: number
    }
  | { readonly type: 'delete'; readonly key: string }

/** Operations that are executed together if all conditions hold. */
export interface Transaction {
  readonly conditions?: readonly Condition[]
  /** At most one per key. */
  readonly operations: readonly Operation[]
}

/** Whether a transaction committed, and what it found. */
export type TransactionResult =
  | {
      readonly committed: true
      /** The transaction's own revision; the current one when it changed nothing. */
      readonly revision: number
      /** Previous values, one entry per operation. */
      readonly previous: readonly (KeyValue | undefined)[]
    }
  | {
      readonly committed: false
      readonly revision: number
      /** The current state of each condition's key, in order. */
      readonly present: readonly (KeyValue | undefined)[]
    }

/** Options of {@link Store.watch}. */
export interface WatchOptions {
  /** The first revision. @default the one after the newest durable when the watch begins */
  readonly from?: number
  /** Adds the previous value to each change. @default false */
  readonly previous?: boolean
  /** Sends a batch without changes now and then, to report progress. @default false */
  readonly progress?: boolean
  readonly signal?: AbortSignal
}

/** A put or deletion of one key, as a watch delivers it. */
export type Change =
  | { readonly type: 'put'; readonly kv: KeyValue; readonly previous?: KeyValue | undefined }
  | {
      readonly type: 'delete'
      readonly key: string
      readonly revision: number
      readonly previous?: KeyValue | undefined
    }

/** The changes of one or more whole transactions, or a progress notification. */
export interface WatchBatch {
  /** Everything up to this revision has been delivered. */
  readonly revision: number
  /** Empty in progress notifications. */
  readonly changes: readonly Change[]
}

/** The revisions of a store. */
export interface StoreStatus {
  readonly revision: number
  /** The oldest revision that reads and watches can start from. */
  readonly compactedRevision: number
  /** Whether progress notifications can be trusted. If not, ask the store itself for what must be fresh. */
  readonly watchProgress: boolean
}
