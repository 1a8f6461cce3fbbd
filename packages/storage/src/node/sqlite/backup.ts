import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isStoreError, StoreError } from '../../errors.ts'
import { maxOperations } from '../../internal/validate.ts'
import type { Operation, Store } from '../../store.ts'
import { checkFile, type StoreReport } from './check.ts'
import {
  type ChangeRow,
  changeColumns,
  databaseName,
  describeError,
  HeadReader,
  openForReading,
  openForWriting,
  readMeta,
  writeMeta,
} from './database.ts'
import { toKeyValue } from './ledger.ts'
import { lockDirectory } from './lock.ts'
import { ensurePrivate, restrict } from './private-file.ts'
import { readWitness, Witness } from './witness.ts'

/**
 * Copies the store in `directory`, which may be in use, into `file`: the state of one revision with its history, synced
 * and verified, readable by its owner only. Throws `InvalidArgument` when the file exists, and `Corrupt` rather than leave a
 * backup that cannot be restored.
 */
export function backupStore(directory: string, file: string): StoreReport {
  const source = join(directory, databaseName)
  if (!existsSync(source)) throw new StoreError('InvalidArgument', `there is no store in ${directory}`)
  reserve(file)
  const partial = `${file}.${process.pid}.partial`
  try {
    closeSync(openSync(partial, 'wx', 0o600))
    const report = copyInto(source, partial)
    moveIntoPlace(partial, file)
    return report
  } catch (error) {
    for (const path of [partial, file]) rmSync(path, { force: true })
    throw error
  }
}

/** Reserves the name. */
function reserve(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'EEXIST') throw cause
    throw new StoreError(
      'InvalidArgument',
      `${file} exists: give the backup another name, or remove the file`,
    )
  }
}

function copyInto(source: string, partial: string): StoreReport {
  try {
    const db = openForReading(source)
    try {
      db.prepare('VACUUM INTO ?').run(partial)
    } finally {
      db.close()
    }
  } catch (error) {
    const { code, message } = isStoreError(error) ? error : describeError(error)
    if (code !== 'Corrupt') throw error
    throw new StoreError('Corrupt', `the store is damaged: ${message}`, { cause: error })
  }
  const report = checkFile(partial)
  if (report.problems.length === 0) return report
  throw new StoreError('Corrupt', `the store is damaged: ${report.problems.join('; ')}`)
}

/**
 * Replaces the store in `directory`, which must not be in use (`Locked`), with a backup. The
 * restored store begins above every revision that either one had, and without history: no client can mistake it for
 * the one it knew.
 */
export function restoreStore(directory: string, file: string): StoreReport {
  const report = checkFile(file)
  if (report.problems.length > 0) {
    throw new StoreError('Corrupt', `the backup is damaged: ${report.problems.join('; ')}`)
  }
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  using _lock = lockDirectory(directory)
  const target = join(directory, databaseName)
  const floor = Math.max(report.revision, closeExisting(directory), readWitness(directory) ?? 0) + 1
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  ensurePrivate(partial)
  copyFileSync(file, partial)
  restrict(partial) // the copy has the backup's mode
  resetHistory(partial, floor)
  moveIntoPlace(partial, target)
  const witness = Witness.open(directory)
  witness.write(floor)
  witness.close()
  return checkFile(target)
}

/** Restores an open store, with its clients and watches, to a backup: by ordinary writes, each with its events. */
export async function restoreIntoStore(
  store: Store,
  file: string,
): Promise<{ puts: number; deletes: number }> {
  const report = checkFile(file)
  if (report.problems.length > 0) {
    throw new StoreError('Corrupt', `the backup is damaged: ${report.problems.join('; ')}`)
  }
  const { items } = await store.range('')
  const present = new Map(items.map(kv => [kv.key, kv.value]))
  const operations: Operation[] = []
  let puts = 0
  for (const { key, value } of readStates(file)) {
    const held = present.get(key)
    present.delete(key)
    if (held && Buffer.compare(held, value) === 0) continue
    operations.push({ type: 'put', key, value })
    puts++
  }
  for (const key of present.keys()) operations.push({ type: 'delete', key })
  for (let i = 0; i < operations.length; i += maxOperations) {
    await store.transact({ operations: operations.slice(i, i + maxOperations) })
  }
  return { puts, deletes: operations.length - puts }
}

function* readStates(file: string): Generator<{ readonly key: string; readonly value: Uint8Array }> {
  const db = openForReading(file)
  try {
    const rows = db.prepare(
      `SELECT ${changeColumns} FROM (SELECT max(id) AS i, dead AS d FROM versions GROUP BY key) JOIN changes ON id = i WHERE d = 0`,
    )
    for (const row of rows.iterate() as Iterable<unknown> as Iterable<ChangeRow>)
      yield toKeyValue(row, row.key)
  } finally {
    db.close()
  }
}

/** Removes the log, which SQLite would otherwise apply to the replacing file. Returns the store's revision. */
function closeExisting(directory: string): number {
  if (!existsSync(join(directory, databaseName))) return 0
  let db: DatabaseSync
  try {
    db = openForWriting(directory)
  } catch {
    // A database that cannot be opened cannot be read; the witness has its revision.
    for (const suffix of ['-wal', '-shm']) rmSync(join(directory, databaseName + suffix), { force: true })
    return 0
  }
  try {
    const { revision } = new HeadReader(db).read()
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return revision
  } catch {
    return 0
  } finally {
    db.close()
  }
}

function resetHistory(file: string, floor: number): void {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; BEGIN')
    const { removed } = readMeta(db)
    writeMeta(db, { compacted: floor, removed, floor })
    db.exec('COMMIT')
  } finally {
    db.close()
  }
}

function moveIntoPlace(partial: string, file: string): void {
  sync(partial)
  renameSync(partial, file)
  sync(dirname(file))
}

function sync(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
