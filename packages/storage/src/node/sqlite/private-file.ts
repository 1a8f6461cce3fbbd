import { chmodSync, closeSync, openSync } from 'node:fs'

/**
 * Ensures that `file` exists and that only its owner can read it: its values include Secrets. SQLite gives its log
 * and its shared memory the mode of their database. An existing file is never opened: closing it would release the locks that
 * this process has on it.
 */
export function ensurePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
    restrict(file)
  }
}

/** Restricts an existing file to its owner, where the file system has owners. */
export function restrict(file: string): void {
  try {
    chmodSync(file, 0o600)
  } catch {
    // It does not exist, or this user may not change its mode.
  }
}
