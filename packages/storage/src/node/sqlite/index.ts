/**
 * The default back end: one directory, no server. Node's SQLite in threads of its own, one that commits groups of
 * transactions and one that reads what is durable.
 * @module
 */
export { openSqliteStore, type SqliteStoreOptions } from './store.ts'
