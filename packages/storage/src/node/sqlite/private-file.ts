import { chmodSync, closeSync, openSync } from 'node:fs'

/**
 * Makes sure that `file` exists and that only its owner can read it: there are Secrets among the values. SQLite gives its log
 * and its shared memory the mode of their database. A file that exists is never opened: closing it would release the locks that
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

/** Takes a file that exists from everybody but its owner, where the file system knows of owners. */
export function restrict(file: string): void {
  try {
    chmodSync(file, 0o600)
  } catch {
    // It is not there, or its mode is not ours to change.
  }
}
