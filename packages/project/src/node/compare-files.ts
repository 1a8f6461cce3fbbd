import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPath } from '../files/check-path.ts'
import type { GeneratedFile } from '../files/generated-file.ts'

/** How a file on the disk differs from the generated one. */
export interface FileDifference {
  readonly path: string
  readonly state: 'missing' | 'stale'
}

/** The files of `folder` that `writeFiles` would create or change, in the order of `files`. */
export function compareFiles(folder: string, files: readonly GeneratedFile[]): FileDifference[] {
  return files.flatMap(({ path, content }): FileDifference[] => {
    checkPath(path)
    const present = readIfPresent(join(folder, path))
    if (present === undefined) return [{ path, state: 'missing' }]
    return present.equals(Buffer.from(content)) ? [] : [{ path, state: 'stale' }]
  })
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
