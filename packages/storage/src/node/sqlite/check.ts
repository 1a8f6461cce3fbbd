import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isStoreError, StoreError } from '../../errors.ts'
import {
  type ChangeRow,
  changeColumns,
  databaseName,
  HeadReader,
  type Heads,
  openForReading,
  revisionOfId,
  verifyRow,
  verifyVersions,
} from './database.ts'
import { readWitness } from './witness.ts'

/** The result of checking a store. */
export interface StoreReport {
  readonly revision: number
  readonly compactedRevision: number
  /** The number of existing keys. */
  readonly keys: number
  /** The number of changes, present and past. */
  readonly changes: number
  /** The problems found; empty for a sound store. */
  readonly problems: readonly string[]
}

/** Reads the whole store in `directory`, which may be in use, and checks all invariants. */
export function checkStore(directory: string): StoreReport {
  const file = join(directory, databaseName)
  if (!existsSync(file)) throw new StoreError('InvalidArgument', `there is no store in ${directory}`)
  // Before the snapshot: a running server goes on writing, and its witness with it.
  const seen = readWitness(directory)
  const report = checkFile(file)
  if (seen === undefined || seen <= report.revision) return report
  return { ...report, problems: [...report.problems, `the store has been at revision ${seen} before`] }
}

/** As `checkStore`, for one file: a backup. */
export function checkFile(file: string): StoreReport {
  const problems: string[] = []
  const empty = { revision: 0, compactedRevision: 0, keys: 0, changes: 0 }
  let db: DatabaseSync
  try {
    db = openForReading(file)
  } catch (error) {
    if (isStoreError(error) && error.code !== 'Corrupt') throw error
    return { ...empty, problems: [messageOf(error)] }
  }
  try {
    // One snapshot for everything, whatever the store's owner writes meanwhile.
    db.exec('BEGIN')
    const attempt = (what: string, work: () => void) => {
      try {
        work()
      } catch (error) {
        problems.push(`${what}: ${messageOf(error)}`)
      }
    }
    attempt('the file', () => {
      const rows = db.prepare('PRAGMA integrity_check(20)').all() as { integrity_check: string }[]
      for (const { integrity_check: line } of rows) if (line !== 'ok') problems.push(line)
    })
    attempt('the index (table versions)', () => verifyVersions(db))
    let heads: Heads = { revision: 0, compacted: 0 }
    attempt('the revision (table meta)', () => {
      heads = new HeadReader(db).read()
    })
    const counts = { keys: 0, changes: 0 }
    attempt('the objects (table changes)', () => Object.assign(counts, checkChanges(db, heads, problems)))
    if (heads.compacted > heads.revision)
      problems.push(`compacted to ${heads.compacted}, beyond ${heads.revision}`)
    return { revision: heads.revision, compactedRevision: heads.compacted, ...counts, problems }
  } finally {
    db.close()
  }
}

/** Every change has its checksum, is in the index, and continues the one that it replaced. */
function checkChanges(db: DatabaseSync, heads: Heads, problems: string[]): { keys: number; changes: number } {
  const find = db.prepare(`SELECT ${changeColumns} FROM changes WHERE id = ?`)
  const successor = db.prepare('SELECT min(id) AS id FROM versions WHERE key = ? AND id > ?')
  let changes = 0
  let keys = 0
  for (const each of db.prepare(`SELECT ${changeColumns} FROM changes`).iterate()) {
    const row = each as unknown as ChangeRow
    changes++
    const name = `the change ${row.id} of ${JSON.stringify(row.key)}`
    try {
      verifyRow(row)
    } catch (error) {
      problems.push(messageOf(error))
      continue
    }
    const revision = revisionOfId(row.id)
    if (revision > heads.revision) problems.push(`${name} is beyond revision ${heads.revision}`)
    const { id: next } = successor.get(row.key, row.id) as { id: number | null }
    if (next === null && !row.dead) keys++
    if (next !== null && revisionOfId(next) < heads.compacted)
      problems.push(`${name} should have been compacted`)
    if (row.previous === 0) {
      if (row.version > 1 || row.dead) problems.push(`${name} has lost what it replaced`)
      continue
    }
    const before = find.get(row.previous) as ChangeRow | undefined
    if (!before) {
      if (revision >= heads.compacted) problems.push(`${name} has lost what it replaced`)
    } else if (before.key !== row.key || (!row.dead && before.version + 1 !== row.version)) {
      problems.push(`${name} does not continue the change ${before.id}`)
    }
  }
  const missing = db.prepare(
    'SELECT count(*) AS n FROM versions v LEFT JOIN changes c ON c.id = v.id WHERE c.id IS NULL',
  )
  const { n } = missing.get() as { n: number }
  if (n > 0) problems.push(`${n} changes are in the index but not there`)
  const { n: indexed } = db.prepare('SELECT count(*) AS n FROM versions').get() as { n: number }
  if (indexed !== changes) problems.push(`the index has ${indexed} entries for ${changes} changes`)
  return { keys, changes }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
