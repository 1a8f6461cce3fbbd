/**
 * The default back end: one directory, no server. Node's SQLite in two threads, one that commits groups of
 * transactions and one that reads what is durable.
 * @module
 */
export { backupStore, restoreIntoStore, restoreStore } from './backup.ts'
export { checkStore, type StoreReport } from './check.ts'
export { openSqliteStore, type SqliteStoreOptions } from './store.ts'
