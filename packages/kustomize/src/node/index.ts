/** The disk as a source of kustomizations. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import type { KustomizeFiles } from '../files.ts'

const absent = new Set(['ENOENT', 'ENOTDIR', 'EISDIR'])

/** Files as they are on disk; symbolic links are followed. */
export function diskFiles(): KustomizeFiles {
  return {
    readFile: path => unlessAbsent(() => readFileSync(path)),
    readFolder: path => unlessAbsent(() => readdirSync(path)),
    realPath: path => unlessAbsent(() => realpathSync(path)) ?? path,
  }
}

function unlessAbsent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
