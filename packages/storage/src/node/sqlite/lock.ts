import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../errors.ts'
import { lockName } from './database.ts'
import { ensurePrivate } from './private-file.ts'

/**
 * Locks `directory` for one process: an exclusive lock on a database that has no other use. The operating
 * system releases it when the process ends, however it ends.
 */
export function lockDirectory(directory: string): Disposable {
  const file = join(directory, lockName)
  ensurePrivate(file)
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    const busy = ((cause as { errcode?: number }).errcode ?? 0) & 0xff
    if (busy !== 5) throw cause
    throw new StoreError('Locked', `another process uses the store in ${directory}`, { cause })
  }
  return { [Symbol.dispose]: () => db.close() }
}
