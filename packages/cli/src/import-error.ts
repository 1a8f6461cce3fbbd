import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

interface Place {
  readonly file: string
  readonly line: number
}

/** Why a file of code cannot be imported: `FILE:LINE: the cause`, the line where it is known. */
export function describeImportError(file: string, error: unknown): string {
  const place = findPlace(resolve(file), error)
  const where =
    place === undefined ? file : `${place.file === resolve(file) ? file : place.file}:${place.line}`
  return `${where}: ${messageOf(error)}`
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${String(error)}`
  if ((error as { code?: string }).code === 'ERR_UNSUPPORTED_DIR_IMPORT') return 'is a directory'
  return error.message.replaceAll(/\s*\n\s*/g, ' ')
}

function findPlace(file: string, error: unknown): Place | undefined {
  if (!(error instanceof Error)) return undefined
  const { message, stack = '' } = error
  return (
    placeAtHead(stack) ??
    placeOfImport(message) ??
    placeInStack(stack, file) ??
    placeOfSyntaxError(file, error)
  )
}

/** Node reports code that it cannot compile with its location first: `FILE:LINE`. */
function placeAtHead(text: string): Place | undefined {
  const [, path = '', line] = /^((?:file:\/\/)?\/.*):(\d+)\n/.exec(text) ?? []
  return line === undefined ? undefined : { file: toPath(path), line: Number(line) }
}

/** The line that imports a missing module. */
function placeOfImport(message: string): Place | undefined {
  const [, wanted = '', importer] =
    /^Cannot find (?:module|package) '(.*)' imported from (.*)$/.exec(message) ?? []
  if (importer === undefined) return undefined
  const name = wanted.slice(wanted.lastIndexOf('/') + 1)
  const index = readLines(toPath(importer)).findIndex(
    line => /import|from|export/.test(line) && line.includes(name),
  )
  return index < 0 ? undefined : { file: toPath(importer), line: index + 1 }
}

/** The innermost call in the file itself. */
function placeInStack(stack: string, file: string): Place | undefined {
  const url = pathToFileURL(file).href
  const frame = stack.split('\n').find(line => line.includes(`${url}:`))
  const [, line] = /:(\d+):\d+\)?$/.exec(frame ?? '') ?? []
  return line === undefined ? undefined : { file, line: Number(line) }
}

/** SyntaxErrors of JavaScript have no location; `node --check` prints it. */
function placeOfSyntaxError(file: string, error: Error): Place | undefined {
  if (!(error instanceof SyntaxError)) return undefined
  return placeAtHead(spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr)
}

function toPath(path: string): string {
  return path.startsWith('file:') ? fileURLToPath(path) : path
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
