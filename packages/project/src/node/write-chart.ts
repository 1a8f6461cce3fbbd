import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '@coxswain/apimachinery/json'
import { ProjectError } from '../errors.ts'
import type { GeneratedFile } from '../files/generated-file.ts'
import { digestOf } from './image/blob.ts'
import { writeFiles } from './write-files.ts'

/** What writing a chart does to a file. */
export interface ChartChange {
  readonly path: string
  readonly state:
    | 'created'
    | 'updated'
    | 'removed'
    /** The author changed it, and so did the generator: the new text is in FILE.new. */
    | 'conflict'
    /** The author changed or added it, and it is no longer generated. */
    | 'kept'
}

/** Remembers what was generated, to tell the author's changes from old text. */
const recordName = '.coxswain-chart.json'

/** What writing a chart would change. */
export interface ChartPlan {
  readonly changes: readonly ChartChange[]
  /** Writes all of it, or nothing. */
  write(): void
}

/** Compares a generated chart with the one in `folder`. Files that the author changed since they were generated are never overwritten or removed. */
export function planChart(folder: string, files: readonly GeneratedFile[]): ChartPlan {
  const record = readRecord(folder)
  const writes: GeneratedFile[] = []
  const remove: string[] = []
  const changes: ChartChange[] = []
  for (const file of files) {
    const present = readIfPresent(join(folder, file.path))
    const before = record.get(file.path)
    const wanted = hashOf(file.content)
    const state = stateOf({ present, before, wanted })
    if (state !== undefined) changes.push({ path: file.path, state })
    if (state === 'created' || state === 'updated') writes.push(file)
    if (state === 'conflict') writes.push({ ...file, path: `${file.path}.new` })
    else if (
      readIfPresent(join(folder, `${file.path}.new`)) !== undefined &&
      before === wanted &&
      present === wanted
    )
      remove.push(`${file.path}.new`)
  }
  const generated = new Set(files.map(file => file.path))
  for (const [path, hash] of record) {
    const present = generated.has(path) ? undefined : readIfPresent(join(folder, path))
    if (present === undefined) continue
    if (present === hash) remove.push(path)
    changes.push({ path, state: present === hash ? 'removed' : 'kept' })
  }
  const hashes = Object.fromEntries(
    files.map(file => [file.path, hashOf(file.content)]).sort(([a], [b]) => (a! < b! ? -1 : 1)),
  )
  const content = `${JSON.stringify({ files: hashes }, undefined, 2)}\n`
  if (readIfPresent(join(folder, recordName)) !== hashOf(content)) writes.push({ path: recordName, content })
  return { changes, write: () => writeFiles(folder, writes, { remove }) }
}

interface FileHashes {
  /** On the disk. */
  readonly present: string | undefined
  /** Generated the last time. */
  readonly before: string | undefined
  /** Generated now. */
  readonly wanted: string
}

function stateOf({ present, before, wanted }: FileHashes): ChartChange['state'] | undefined {
  if (present === wanted) return undefined
  // One that was generated and deleted is the author's decision, too.
  if (present === undefined)
    return before === undefined ? 'created' : before === wanted ? undefined : 'conflict'
  if (present === before) return 'updated'
  return before === wanted ? undefined : 'conflict'
}

const hashOf = (content: string | Uint8Array) => digestOf(Buffer.from(content))

function readIfPresent(path: string): string | undefined {
  try {
    return hashOf(readFileSync(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

function readRecord(folder: string): Map<string, string> {
  const file = join(folder, recordName)
  if (readIfPresent(file) === undefined) return new Map()
  let read: unknown
  try {
    read = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new ProjectError(
      'BadProject',
      `${file} is not JSON: restore it, or delete it to have all files compared anew`,
      { cause },
    )
  }
  const files = isObject(read) && isObject(read.files) ? Object.entries(read.files) : []
  return new Map(files.filter((each): each is [string, string] => typeof each[1] === 'string'))
}
