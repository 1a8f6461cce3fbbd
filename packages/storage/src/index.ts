/**
 * A revisioned key-value store in the terms of etcd, and the back end without dependencies: memory.
 *
 *   createMemoryStore({ env })        here
 *   openSqliteStore({ directory })    @coxswain/storage/sqlite
 *   createEtcdStore({ endpoints })    @coxswain/storage/etcd
 *
 * @module
 */
export {
  isCompacted,
  isFutureRevision,
  isSlowWatcher,
  isStoreError,
  isUnknownOutcome,
  StoreError,
  type StoreErrorCode,
  type StoreErrorOptions,
  storeErrorCodes,
} from './errors.ts'
export type { HistoryWindow } from './internal/revision-log.ts'
export type { WatchLimits } from './internal/watch-hub.ts'
export { type CrashOptions, createMemoryStore, type MemoryStore, type MemoryStoreOptions } from './memory.ts'
export { MemoryDisk } from './memory-disk.ts'
export type {
  Change,
  Condition,
  GetOptions,
  GetResult,
  KeyValue,
  Operation,
  RangeOptions,
  RangeResult,
  Store,
  StoreStatus,
  Transaction,
  TransactionResult,
  WatchBatch,
  WatchOptions,
} from './store.ts'
