/**
 * Inside a package, as between packages: `folders` of `layers.json` lists a package's folders from top to bottom, one row
 * a string. A file imports its own folder and lower rows; folders of one row do not import each other. In every package no
 * cycle of files, not even by types. Tests, and what only tests use, are free.
 */
import { dirname, join } from 'node:path'
import type { Finding } from './finding.ts'
import { findImports, isTest, readSources } from './source.ts'

/** By package, or folder in it (`cli/up`): rows of folders (or files of `src/`), separated by spaces, the top row first. */
export type FolderLadders = Readonly<Record<string, readonly string[]>>

interface FileImports {
  readonly file: string
  readonly imports: readonly { readonly target: string; readonly line: number }[]
}

export async function checkRooms(root: string, folder: string, ladders: FolderLadders): Promise<Finding[]> {
  const files = await readFiles(root, `packages/${folder}/src`)
  const findings = [...findCycles(files)]
  for (const [path, rows] of Object.entries(ladders)) {
    const [packageFolder, ...folders] = path.split('/')
    if (packageFolder !== folder) continue
    const base = ['packages', folder, 'src', ...folders].join('/')
    findings.push(
      ...checkRows(
        base,
        files.filter(({ file }) => file.startsWith(`${base}/`)),
        rows,
      ),
    )
  }
  return findings
}

async function readFiles(root: string, base: string): Promise<readonly FileImports[]> {
  const sources = await readSources(root, [`${base}/**/*.ts`])
  return sources
    .filter(({ path }) => !isTest(path))
    .map(source => ({
      file: source.path,
      imports: findImports(source)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier, line }) => ({ target: join(dirname(source.path), specifier), line })),
    }))
}

function* checkRows(
  base: string,
  files: readonly FileImports[],
  rows: readonly string[],
): Generator<Finding> {
  const rowOf = new Map<string, number>()
  for (const [index, row] of rows.entries()) for (const name of row.split(' ')) rowOf.set(name, index)
  const present = new Set(files.map(({ file }) => roomOf(base, file)))
  for (const name of present) {
    if (!rowOf.has(name)) yield { file: 'layers.json', message: `has no row for ${base}/${name}` }
  }
  for (const name of rowOf.keys()) {
    if (!present.has(name))
      yield { file: 'layers.json', message: `names ${base}/${name}, which does not exist` }
  }
  for (const { file, imports } of files) {
    const from = roomOf(base, file)
    for (const { target, line } of imports) {
      if (!target.startsWith(`${base}/`)) continue
      const to = roomOf(base, target)
      if (to === from || (rowOf.get(to) ?? Number.POSITIVE_INFINITY) > (rowOf.get(from) ?? -1)) continue
      yield { file, line, message: `upward import: ${from} stands below or beside ${to} in layers.json` }
    }
  }
}

/** The folder directly below `src/` that a file is in, or the file itself. */
function roomOf(base: string, file: string): string {
  const path = file.slice(base.length + 1)
  const slash = path.indexOf('/')
  return slash < 0 ? path : path.slice(0, slash)
}

/** One finding a knot: the files that all reach each other, with one way round. */
function* findCycles(files: readonly FileImports[]): Generator<Finding> {
  const graph = new Map(files.map(({ file, imports }) => [file, imports.map(({ target }) => target)]))
  const done = new Set<string>()
  for (const start of graph.keys()) {
    if (done.has(start)) continue
    const cycle = findCycleThrough(start, graph)
    if (!cycle) continue
    for (const file of cycle) done.add(file)
    yield { file: start, message: `cycle of files: ${[...cycle, start].join(' -> ')}` }
  }
}

/** The shortest way from `start` back to itself. */
function findCycleThrough(
  start: string,
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const target of graph.get(file) ?? []) {
      if (target === start) {
        const path = [file]
        while (path[0] !== start) path.unshift(cameFrom.get(path[0]!)!)
        return path
      }
      if (!graph.has(target) || cameFrom.has(target)) continue
      cameFrom.set(target, file)
      queue.push(target)
    }
  }
  return undefined
}
