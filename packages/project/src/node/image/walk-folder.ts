import {
  closeSync,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { ProjectError } from '../../errors.ts'
import { type IgnoreRules, type IgnoreSyntax, parseIgnore } from '../../image/ignore.ts'
import { describeSecret, isNeverIncluded, mayBeSecret, secretPrefix } from '../../image/secrets.ts'
import type { LayerEntry } from './layer.ts'

export interface WalkOptions {
  readonly folder: string
  /** Maps a path on the disk to one in the image; undefined for a path that the image does not have. */
  readonly pathOf: (path: string) => string | undefined
  /** Files and folders that do not belong into this layer. */
  readonly skip: ReadonlySet<string>
  /** Whether .dockerignore and .gitignore count, and files are searched for secrets: for code, not for published packages. */
  readonly kind: 'code' | 'package'
  readonly warn: (text: string) => void
}

interface Level {
  readonly folder: string
  readonly rules: IgnoreRules
}

/** The most files of one layer. */
const maxEntries = 1_000_000

/** The files, folders and symbolic links of a folder that belong into an image, without `node_modules`. */
export function walkFolder(options: WalkOptions): LayerEntry[] {
  const { folder, kind } = options
  const hasDockerIgnore =
    kind === 'code' && lstatSync(join(folder, '.dockerignore'), { throwIfNoEntry: false })?.isFile()
  const syntax = kind === 'package' ? undefined : hasDockerIgnore ? 'docker' : 'git'
  const levels = syntax === 'git' ? parentLevels(folder) : []
  const entries: LayerEntry[] = []
  visit(folder, { options, syntax, levels, isIgnored: false, entries })
  if (entries.length > maxEntries)
    throw new ProjectError(
      'BadProject',
      `${folder} has more than ${maxEntries} files: leave some out with a .dockerignore`,
    )
  return entries
}

interface Visit {
  readonly options: WalkOptions
  readonly syntax: IgnoreSyntax | undefined
  readonly levels: readonly Level[]
  readonly isIgnored: boolean
  readonly entries: LayerEntry[]
}

function visit(folder: string, state: Visit): void {
  const { options, syntax, entries } = state
  const levels = syntax === undefined ? [] : [...state.levels, ...readLevel(folder, syntax, state.levels)]
  for (const child of readdirSync(folder, { withFileTypes: true }).sort(byName)) {
    const path = join(folder, child.name)
    const isFolder = child.isDirectory()
    if (child.name === 'node_modules' || isNeverIncluded(child.name, isFolder ? 'folder' : 'file')) continue
    if (options.skip.has(path) || (isFolder && isLayout(path))) continue
    const isIgnored = decide(levels, path, isFolder ? 'folder' : 'file') ?? state.isIgnored
    if (!isFolder) {
      if (!isIgnored) addFile(child, path, state)
      continue
    }
    if (isIgnored && (syntax === 'git' || !levels.some(level => level.rules.hasExceptions))) continue
    const at = entries.length
    visit(path, { ...state, levels, isIgnored })
    // A folder that is ignored itself is there only for what an exception includes.
    if (!isIgnored || entries.length > at) entries.push({ path: pathIn(options, path), type: 'folder' })
    if (entries.length > maxEntries) return
  }
}

function addFile(child: Dirent, path: string, { options, entries }: Visit): void {
  const { warn, kind } = options
  if (child.isSymbolicLink()) {
    entries.push({ path: pathIn(options, path), type: 'link', target: linkTarget(path, options) })
    return
  }
  if (!child.isFile()) {
    warn(`${path} is left out: it is not a file, folder or symbolic link`)
    return
  }
  const secret = kind === 'code' && mayBeSecret(child.name) ? describeSecret(readBeginning(path)) : undefined
  if (secret !== undefined) {
    warn(`${path} is left out: it has ${secret}`)
    return
  }
  const { size, mode } = lstatSync(path)
  entries.push({
    path: pathIn(options, path),
    type: 'file',
    size,
    executable: (mode & 0o100) !== 0,
    source: path,
  })
}

function pathIn({ pathOf, folder }: WalkOptions, path: string): string {
  const found = pathOf(path)
  if (found === undefined) throw new ProjectError('BadPath', `${path} is not in ${folder}`)
  return found
}

/** Relative, as in the image. One that leads out of what the image has would break there, or show another file. */
function linkTarget(path: string, options: WalkOptions): string {
  let real: string
  try {
    real = realpathSync(path)
  } catch (cause) {
    throw new ProjectError(
      'BadProject',
      `${path} is a symbolic link to a file that does not exist: remove it, or name it in .dockerignore`,
      { cause },
    )
  }
  const isInside = real === options.folder || real.startsWith(`${options.folder}${sep}`)
  if (!isInside)
    throw new ProjectError(
      'BadProject',
      `${path} is a symbolic link that leads out of ${options.folder}: name it in .dockerignore, or replace it with a copy`,
    )
  return relative(realpathSync(dirname(path)), real)
    .split(sep)
    .join('/')
}

function decide(levels: readonly Level[], path: string, kind: 'file' | 'folder'): boolean | undefined {
  for (const { folder, rules } of levels.toReversed()) {
    const decision = rules.decide(relative(folder, path).split(sep).join('/'), kind)
    if (decision !== undefined) return decision === 'ignored'
  }
  return undefined
}

/** The ignore file of a folder; a .dockerignore counts only at the top. */
function readLevel(folder: string, syntax: IgnoreSyntax, above: readonly Level[]): Level[] {
  if (syntax === 'docker' && above.length > 0) return []
  const file = join(folder, syntax === 'docker' ? '.dockerignore' : '.gitignore')
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return []
  return [{ folder, rules: parseIgnore(readFileSync(file, 'utf8'), syntax) }]
}

/** The .gitignore files above the folder, up to the top of its repository. */
function parentLevels(folder: string): Level[] {
  const above: string[] = []
  for (let at = folder; ; at = dirname(at)) {
    if (at !== folder) above.unshift(at)
    if (lstatSync(join(at, '.git'), { throwIfNoEntry: false })) break
    if (dirname(at) === at) return []
  }
  return above.flatMap(each => readLevel(each, 'git', []))
}

/** An image that an earlier build wrote into the project. */
const isLayout = (folder: string) =>
  lstatSync(join(folder, 'oci-layout'), { throwIfNoEntry: false })?.isFile() === true

function readBeginning(path: string): Uint8Array {
  const buffer = Buffer.alloc(secretPrefix)
  const file = openSync(path, 'r')
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, secretPrefix, 0))
  } finally {
    closeSync(file)
  }
}

const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1)

/** The name of a folder's package where it has none. */
export const folderName = (folder: string): string => basename(folder)
