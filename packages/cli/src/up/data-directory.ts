import { closeSync, fsyncSync, openSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectories } from '@coxswain/kit/node'
import { CommandError, explainSystemError } from '../exit.ts'

export interface DataDirectory {
  /** Removes what this process has created, after a failed start. Existing files stay. */
  undo(): void
}

/**
 * Creates the directory, with a subdirectory for each of `parts`, and checks that it is writable. It contains keys and Secrets: it
 * is accessible to its owner only, unless processes of other users have to pass through it.
 */
export function prepareDirectory(
  dataDir: string,
  { parts, isPassable }: { readonly parts: readonly string[]; readonly isPassable: boolean },
): DataDirectory {
  const made: string[] = []
  const contents: string[] = []
  const undo = () => {
    for (const path of contents) rmSync(path, { recursive: true, force: true })
    for (const path of made.toReversed()) removeEmpty(path)
  }
  try {
    for (const path of makeDirectories(dataDir, isPassable ? 0o711 : 0o700)) made.push(path)
    const probe = join(dataDir, '.writable')
    writeFileSync(probe, '')
    rmSync(probe)
    for (const part of parts)
      for (const path of makeDirectories(join(dataDir, part), 0o700)) contents.push(path)
    for (const path of [...made, ...contents]) sync(dirname(path))
    return { undo }
  } catch (error) {
    undo()
    throw new CommandError(`the data directory ${dataDir} cannot be used: ${explainSystemError(error)}`, {
      cause: error,
    })
  }
}

/** Syncs a directory, so that its entries survive a power failure. */
function sync(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // It is not empty.
  }
}
