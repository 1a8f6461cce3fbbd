import type { StoreError } from './errors.ts'

/**
 * A revisioned key-value store, in the terms of etcd.
 *
 * One counter for the whole store: every transaction that changes something gets the next revision. Keys are ASCII
 * strings ordered by their characters; values are bytes that belong to the store once given and must not be changed by
 * anybody, giver or receiver.
 *
 * A write is acknowledged, visible to reads and sent to watchers only when it is durable.
 */
export interface Store extends AsyncDisposable {
  /** The newest durable value of `key`, or the one it had at `revision`. */
  get(key: string, options?: GetOptions): Promise<GetResult>
  /** Keys that start with `prefix`, in order. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>
  /** All of `operations` if every condition holds, else nothing. Resolves when the outcome is durable. */
  transact(transaction: Transaction): Promise<TransactionResult>
  /**
   * Changes to keys that start with `prefix`, from a revision on, in the order of revisions, without gap or duplicate,
   * all changes of one transaction in one batch. Begins when the first batch is asked for; takes one consumer. Ends when
   * the consumer leaves the loop or `signal` aborts; throws `Compacted` when history is gone, `FutureRevision` when
   * `from` is beyond the next revision, `SlowWatcher` when the consumer lags too far behind, `Closed` with the store.
   */
  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch>
  /** Forgets history before `revision`: the state at `revision` and everything after stays readable. */
  compact(revision: number): Promise<void>
  /** Asks every watch with `progress` to tell, after what it has still to tell, how far it has come. */
  requestProgress(): void
  /** The newest durable revision and the oldest that reads may still ask for. */
  status(): Promise<StoreStatus>
  /** The newest durable revision at once, where nobody else can have written another. @default it has to be asked for */
  revisionNow?(): number
  /** Why writes fail at present; undefined once one succeeds again. @default they are not known to fail */
  writeFailure?(): StoreError | undefined
  /** Whether the value of `key` should be written anew although it would not change. @default it never should */
  isStale?(key: string): Promise<boolean>
  /** Waits for pending writes, ends every watch and lets go of the disk or network. */
  close(): Promise<void>
}

export interface KeyValue {
  readonly key: string
  /** Empty in ranges that ask for keys only. */
  readonly value: Uint8Array
  /** The revision of the last change. */
  readonly modRevision: number
  /** The revision at which the key came into being. */
  readonly createRevision: number
  /** How often it was written since then, starting at 1. */
  readonly version: number
}

export interface GetOptions {
  /** Throws `Compacted` or `FutureRevision` when out of reach. @default the newest */
  readonly revision?: number
}

export interface GetResult {
  readonly kv: KeyValue | undefined
  /** The store's revision when it was read. */
  readonly revision: number
}

export interface RangeOptions extends GetOptions {
  /** At most so many; `more` then says whether there are others. @default all */
  readonly limit?: number
  /** The first key wanted, itself included. @default the first with the prefix */
  readonly start?: string
  /** @default false */
  readonly keysOnly?: boolean
  /** Only `count`, no items. @default false */
  readonly countOnly?: boolean
}

export interface RangeResult {
  readonly items: readonly KeyValue[]
  readonly more: boolean
  /** How many keys there are from `start` on, whatever the limit. */
  readonly count: number
  /** The revision whose state this is. */
  readonly revision: number
}

export interface Condition {
  readonly key: string
  /** The key's last change must have been this one; 0 means the key must be absent. */
  readonly modRevision: number
}

export type Operation =
  | {
      readonly type: 'put'
      readonly key: string
      readonly value: Uint8Array /** Milliseconds to live. */
      readonly ttl?: number
    }
  | { readonly type: 'delete'; readonly key: string }

export interface Transaction {
  readonly conditions?: readonly Condition[]
  /** At most one for each key. */
  readonly operations: readonly Operation[]
}

export type TransactionResult =
  | {
      readonly committed: true
      /** The transaction's own revision; the present one when it changed nothing. */
      readonly revision: number
      /** What stood before, an entry for each operation. */
      readonly previous: readonly (KeyValue | undefined)[]
    }
  | {
      readonly committed: false
      readonly revision: number
      /** The present state of each condition's key, in their order. */
      readonly present: readonly (KeyValue | undefined)[]
    }

export interface WatchOptions {
  /** The first revision wanted. @default the one after the newest durable when the watch begins */
  readonly from?: number
  /** Adds what stood before to each change. @default false */
  readonly previous?: boolean
  /** Send a batch without changes now and then, saying how far the watch has come. @default false */
  readonly progress?: boolean
  readonly signal?: AbortSignal
}

export type Change =
  | { readonly type: 'put'; readonly kv: KeyValue; readonly previous?: KeyValue | undefined }
  | {
      readonly type: 'delete'
      readonly key: string
      readonly revision: number
      readonly previous?: KeyValue | undefined
    }

export interface WatchBatch {
  /** Everything up to this revision has been told. */
  readonly revision: number
  /** Empty in progress notifications. */
  readonly changes: readonly Change[]
}

export interface StoreStatus {
  readonly revision: number
  /** Reads at this revision and watches from it on are possible; what was before is forgotten. */
  readonly compactedRevision: number
  /** Whether progress notifications can be trusted. Where not, ask the store itself for what must be fresh. */
  readonly watchProgress: boolean
}
