/**
 * Cases of a build, in text files under fixtures/:
 *
 *   ## NAME            a case
 *   -- PATH --         a file of it; the content `@NAME` is a text of library.txt
 *   >> output | refused    what the real kustomize 5.8 answered, recorded by interop/kustomize/record.ts
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface BuildCase {
  readonly name: string
  /** By path; the kustomization that is built is in the folder `app` when there is one, else at the top. */
  readonly files: ReadonlyMap<string, string>
  /** What the real kustomize prints; undefined when it refuses, or when nothing is recorded yet. */
  readonly output: string | undefined
  readonly isRecorded: boolean
}

export const fixturesFolder: string = fileURLToPath(new URL('../../fixtures/', import.meta.url))

export const caseFiles = (): string[] =>
  readdirSync(fixturesFolder)
    .filter(name => name.endsWith('.cases.txt'))
    .sort()

export function readCases(file: string): BuildCase[] {
  const library = readLibrary()
  const text = readFileSync(fixturesFolder + file, 'utf8')
  return text
    .split(/^## /m)
    .slice(1)
    .map(part => parseCase(part, library))
}

export const allCases = (): BuildCase[] => caseFiles().flatMap(readCases)

function readLibrary(): ReadonlyMap<string, string> {
  return new Map(sections(readFileSync(`${fixturesFolder}library.txt`, 'utf8')))
}

function sections(text: string): [string, string][] {
  const parts = text.split(/^-- (.+) --\n/m)
  const result: [string, string][] = []
  for (let at = 1; at < parts.length; at += 2) result.push([parts[at]!, parts[at + 1]!])
  return result
}

function parseCase(part: string, library: ReadonlyMap<string, string>): BuildCase {
  const [input = '', ...recorded] = part.split(/^>> /m)
  const name = input.slice(0, input.indexOf('\n'))
  const files = expandLibrary(new Map(sections(input)), library)
  const answer = recorded.join('>> ')
  const at = answer.indexOf('\n')
  const output = answer.startsWith('output') ? answer.slice(at + 1) : undefined
  return { name, files, output, isRecorded: answer !== '' }
}

/** The files with `@NAME` replaced by the texts of the library. */
export function expandLibrary(
  files: ReadonlyMap<string, string>,
  library: ReadonlyMap<string, string> = readLibrary(),
): Map<string, string> {
  const textOf = (name: string): string => {
    const text = library.get(name.slice(1))
    if (text === undefined) throw new Error(`library.txt has no ${name}`)
    return text
  }
  return new Map(
    [...files].map(([path, content]) => [
      path,
      content.startsWith('@') ? content.trim().split(/\s+/).map(textOf).join('---\n') : content,
    ]),
  )
}

/** The folder that a case builds. */
export const rootOf = ({ files }: BuildCase): string =>
  [...files.keys()].some(path => path.startsWith('app/')) ? 'app' : ''
