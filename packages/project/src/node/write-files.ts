import {
  chmodSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { ProjectError } from '../errors.ts'
import { checkPath } from '../files/check-path.ts'
import type { GeneratedFile } from '../files/generated-file.ts'

/** Options of {@link writeFiles}. */
export interface WriteFilesOptions {
  /** Files to delete along with it, relative to the folder; one that does not exist is ignored. */
  readonly remove?: readonly string[]
}

/** What undoes one change. */
type Undo = () => void

/**
 * Writes all files, or none: when one cannot be written, everything is as it was before, and a ProjectError `NotWritten` has the
 * cause. Each file is replaced by a rename, so a reader sees the old or the new content. Symbolic links inside the folder are
 * followed only while they stay in it.
 */
export function writeFiles(
  folder: string,
  files: readonly GeneratedFile[],
  { remove = [] }: WriteFilesOptions = {},
): void {
  for (const path of [...files.map(file => file.path), ...remove]) checkPath(path)
  const undo: Undo[] = []
  const staged: { readonly from: string; readonly to: string }[] = []
  const backups: string[] = []
  let current = folder
  try {
    makeFolder(folder, undo)
    const root = realpathSync(folder)
    for (const file of files) {
      current = join(root, file.path)
      makeFolder(dirname(current), undo)
      refuseOutside(root, current)
      const from = temporaryName(current, 'new')
      undo.push(() => rmSync(from, { force: true }))
      writeFileSync(from, file.content, { flag: 'wx' })
      if (file.executable === true) chmodSync(from, 0o755)
      staged.push({ from, to: current })
    }
    for (const path of remove) {
      current = join(root, path)
      refuseOutside(root, current)
      if (isFile(current)) moveAside(current, undo, backups)
    }
    for (const { from, to } of staged) {
      current = to
      if (isFile(to)) moveAside(to, undo, backups)
      renameSync(from, to)
      undo.push(() => rmSync(to, { force: true }))
    }
  } catch (cause) {
    for (const step of undo.reverse()) step()
    if (cause instanceof ProjectError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ProjectError('NotWritten', `${current} cannot be written: ${reason}`, { cause })
  }
  for (const backup of backups) rmSync(backup, { force: true })
}

/** Makes a folder and its missing parents; undone from the innermost. */
function makeFolder(path: string, undo: Undo[]): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found) throw new Error(`${path} is not a directory`)
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent, undo)
  mkdirSync(path)
  undo.push(() => rmdirSync(path))
}

function refuseOutside(root: string, path: string): void {
  const real = realpathSync(dirname(path))
  if (real !== root && !real.startsWith(`${root}${sep}`))
    throw new ProjectError('BadPath', `${path} leads out of the project through a symbolic link`)
}

function isFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) throw new Error('there is a directory of that name')
  return found !== undefined
}

function moveAside(path: string, undo: Undo[], backups: string[]): void {
  const backup = temporaryName(path, 'old')
  renameSync(path, backup)
  backups.push(backup)
  undo.push(() => renameSync(backup, path))
}

/** Beside the file, because a rename has to stay on one file system. */
function temporaryName(path: string, kind: 'new' | 'old'): string {
  return `${path}.${process.pid}.${kind}~`
}
