import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { StoreError } from '../../errors.ts'
import { ensurePrivate, restrict } from './private-file.ts'

/** Incremented whenever an older program could not read the file. */
export const formatVersion = 1
/** 'coxs': distinguishes our files from other SQLite databases. */
const applicationId = 0x636f7873
export const databaseName = 'store.sqlite'
export const lockName = 'lock.sqlite'
export const witnessName = 'head'

/** A change's id is its revision times this plus its index in the transaction. */
export const idsPerRevision = 128
/** Sorts after every key. */
export const beyondKeys = '\u{10ffff}'
/** Digests are sums modulo this. */
export const digestModulus: number = 2 ** 52

/*
 * changes    every change that is part of the present state or of the history window; ids are in the order of
 *            revisions. `previous` is the id of what it replaced, 0 for nothing. `digest` is the sum of the hashes of all
 *            rows ever added to `versions` up to and including this change's.
 * versions   which changes there are of each key, so that a key's state at a revision is one search.
 * meta       compacted: the oldest readable revision; removed: the sum of the hashes of rows taken from `versions`;
 *            floor: a revision that was reached without a change (a restored store begins above what was seen before);
 *            sum: the checksum of these.
 */
const schema = `
  CREATE TABLE changes (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    dead INTEGER NOT NULL,
    created INTEGER NOT NULL,
    version INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    due INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    value_sum INTEGER NOT NULL,
    sum INTEGER NOT NULL,
    value BLOB NOT NULL
  ) STRICT;
  CREATE INDEX expiring ON changes (due) WHERE due > 0;
  CREATE TABLE versions (
    key TEXT NOT NULL,
    id INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    PRIMARY KEY (key, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

/** Opens the database of `directory` for the one writer, creating it when it is not there. */
export function openForWriting(
  directory: string,
  { isUnsafeNoFsync = false }: { readonly isUnsafeNoFsync?: boolean } = {},
): DatabaseSync {
  const file = join(directory, databaseName)
  ensurePrivate(file)
  for (const suffix of ['-wal', '-shm']) restrict(file + suffix)
  const db = new DatabaseSync(file, { timeout: 5000 })
  try {
    db.exec('PRAGMA page_size = 8192')
    assertOurs(db)
    const synchronous = isUnsafeNoFsync ? 'OFF' : 'FULL'
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 0`)
    db.exec('PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON')
    if (userVersion(db) === 0) {
      db.exec('BEGIN IMMEDIATE')
      db.exec(schema)
      writeMeta(db, { compacted: 1, removed: 0, floor: 1 })
      db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion}`)
      db.exec('COMMIT')
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens the database of `directory`, or a backup of one, without being able to change it. */
export function openForReading(file: string, cacheKilobytes = 8000): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  try {
    db.exec(`PRAGMA cache_size = -${cacheKilobytes}; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON`)
    assertOurs(db)
    if (userVersion(db) === 0) throw new StoreError('Corrupt', 'the file does not contain a store')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function assertOurs(db: DatabaseSync): void {
  const version = userVersion(db)
  const { application_id: id } = db.prepare('PRAGMA application_id').get() as { application_id: number }
  const { tables } = db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as { tables: number }
  if (version === 0 && id === 0 && tables === 0) return
  if (id !== applicationId) throw new StoreError('Corrupt', 'the file is not a store of this program')
  if (version > formatVersion) {
    throw new StoreError(
      'NewerFormat',
      `the store has format ${version}, this program knows formats up to ${formatVersion}: use the newer program`,
    )
  }
  if (version < 1) throw new StoreError('Corrupt', `the store has the invalid format ${version}`)
}

function userVersion(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** A row of `changes`, in the order of {@link changeColumns}. */
export interface ChangeRow {
  readonly id: number
  readonly key: string
  readonly dead: number
  readonly created: number
  readonly version: number
  readonly previous: number
  readonly due: number
  readonly digest: number
  readonly value_sum: number
  readonly sum: number
  readonly value: Uint8Array
}

export const headerColumns = 'id, key, dead, created, version, previous, due, digest, value_sum, sum'
export const changeColumns: string = `${headerColumns}, value`

export function revisionOfId(id: number): number {
  return Math.floor(id / idsPerRevision)
}

/**
 * What a row of `versions` adds to the digest: FNV-1a of its key, and numbers derived from the id and the deletion that SQLite
 * can sum up by itself. Any single changed bit changes it.
 */
export function hashVersion(key: string, id: number, dead: number): number {
  let hash = fnvBasis
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), fnvPrime)
  return (hash >>> 0) + (id % 2 ** 32) + 3 * Math.floor(id / 2 ** 32) + 5 * dead
}

const fnvBasis = 0x811c9dc5
const fnvPrime = 0x01000193

export function sumOfHeader(row: Omit<ChangeRow, 'sum' | 'value'>): number {
  const { id, key, dead, created, version, previous, due, digest, value_sum: valueSum } = row
  return crc32(`${key}\n${id} ${dead} ${created} ${version} ${previous} ${due} ${digest} ${valueSum}`)
}

export function sumOfValue(value: Uint8Array): number {
  return crc32(Buffer.from(value.buffer, value.byteOffset, value.length))
}

/** Throws `Corrupt` unless the row matches its checksum. Rows read without their value pass `value` undefined. */
export function verifyRow(row: ChangeRow | Omit<ChangeRow, 'value'>): void {
  const value = 'value' in row ? row.value : undefined
  if (sumOfHeader(row) !== row.sum || (value !== undefined && sumOfValue(value) !== row.value_sum)) {
    throw new StoreError(
      'Corrupt',
      `the change ${row.id} of ${JSON.stringify(row.key)} does not match its checksum`,
    )
  }
}

export interface Meta {
  readonly compacted: number
  readonly removed: number
  readonly floor: number
}

export function writeMeta(db: DatabaseSync, meta: Meta): void {
  const put = db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  for (const [name, value] of Object.entries({ ...meta, sum: sumOfMeta(meta) })) put.run(name, value)
}

export function readMeta(db: DatabaseSync): Meta {
  return parseMeta(db.prepare(metaQuery).all() as unknown as MetaRow[])
}

interface MetaRow {
  readonly name: string
  readonly value: number
}

const metaQuery = 'SELECT name, value FROM meta'

function parseMeta(rows: readonly MetaRow[]): Meta {
  const { compacted, removed, floor, sum } = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  if (compacted !== undefined && removed !== undefined && floor !== undefined) {
    const meta = { compacted, removed, floor }
    if (sumOfMeta(meta) === sum) return meta
  }
  throw new StoreError('Corrupt', 'the metadata of the store does not match its checksum')
}

function sumOfMeta({ compacted, removed, floor }: Meta): number {
  return crc32(`${compacted} ${removed} ${floor}`)
}

export interface Heads {
  readonly revision: number
  readonly compacted: number
}

/** The newest and the oldest readable revision in the current snapshot of a connection. */
export class HeadReader {
  readonly #last: StatementSync
  readonly #meta: StatementSync

  constructor(db: DatabaseSync) {
    this.#last = db.prepare('SELECT max(id) AS id FROM changes')
    this.#meta = db.prepare(metaQuery)
  }

  read(): Heads {
    const { id } = this.#last.get() as { id: number | null }
    const { floor, compacted } = parseMeta(this.#meta.all() as unknown as MetaRow[])
    return { revision: Math.max(floor, revisionOfId(id ?? 0)), compacted }
  }
}

/** About how many rows of the index are read at once. */
const verifiedTogether = 20_000

/**
 * Compares the digest that the changes carry with the rows of `versions`: none is missing, added or altered. Opening a
 * store reads its whole index, so this is a hot path (`bench/storage` measures it): SQLite returns thousands of keys
 * as one text, which takes a quarter of the time of reading them one by one.
 */
export function verifyVersions(db: DatabaseSync): void {
  const boundary = db.prepare(
    `SELECT key FROM versions WHERE key > ? ORDER BY key LIMIT 1 OFFSET ${verifiedTogether}`,
  )
  const block = db.prepare(
    `SELECT CAST(group_concat(key, char(0)) || char(0) AS BLOB) AS keys,
            sum((id & 4294967295) + 3 * (id >> 32) + 5 * dead) AS numbers
     FROM versions WHERE key > ? AND key <= ?`,
  )
  let digest = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const next: string | undefined = (boundary.get(after) as { key: string } | undefined)?.key
    const { keys, numbers } = block.get(after, next ?? beyondKeys) as {
      keys: Uint8Array | null
      numbers: number
    }
    if (keys) digest = (digest + digestKeys(keys) + numbers) % digestModulus
    if (next !== undefined && next <= after) throw new StoreError('Corrupt', 'the index is out of order')
    after = next
  }
  const newest = db.prepare(`SELECT ${headerColumns} FROM changes ORDER BY id DESC LIMIT 1`).get() as
    | ChangeRow
    | undefined
  if (newest) verifyRow(newest)
  const { removed } = readMeta(db)
  const expected = ((newest?.digest ?? 0) - removed + digestModulus) % digestModulus
  if (digest !== expected) throw new StoreError('Corrupt', 'the index does not match its digest')
}

/** The sum of the hashes of keys, each followed by a NUL. */
function digestKeys(keys: Uint8Array): number {
  let digest = 0
  let hash = fnvBasis
  for (let i = 0; i < keys.length; i++) {
    const byte = keys[i]!
    if (byte === 0) {
      digest += hash >>> 0
      hash = fnvBasis
    } else {
      hash = Math.imul(hash ^ byte, fnvPrime)
    }
  }
  return digest
}

/**
 * Whether there was no space for a write. The write is rolled back, and the next may succeed: SQLITE_FULL, and SQLITE_IOERR_SHMSIZE
 * when the index of SQLite's log cannot grow.
 */
export function isNoSpace(error: unknown): boolean {
  const { errcode } = error as { errcode?: number }
  return errcode !== undefined && ((errcode & 0xff) === sqliteFull || errcode === sqliteShmSize)
}

const sqliteFull = 13
export const sqliteShmSize = 4874

/** Converts a SQLite error to a StoreError. */
export function describeError(error: unknown): {
  code: 'Corrupt' | 'Unavailable' | 'Failed'
  message: string
} {
  const code = (error as { errcode?: number }).errcode
  const message = error instanceof Error ? error.message : String(error)
  // SQLITE_CORRUPT and SQLITE_NOTADB, whatever their extended codes.
  if (code !== undefined && ((code & 0xff) === 11 || (code & 0xff) === 26))
    return { code: 'Corrupt', message }
  return { code: code === undefined ? 'Failed' : 'Unavailable', message }
}
