/** Reads Markdown just well enough for the checks. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lineAt } from './source.ts'

export interface Link {
  readonly target: string
  readonly line: number
}

export interface Fence {
  /** What follows the opening marks, such as `sh test`. */
  readonly info: string
  readonly body: string
  readonly line: number
}

const fencePattern = /^( *)(`{3,}|~{3,})(.*)\n([\s\S]*?)^ *\2[`~]* *$/gm

export const readMarkdown = (root: string, path: string): Promise<string> =>
  readFile(join(root, path), 'utf8')

export function findFences(text: string): Fence[] {
  return [...text.matchAll(fencePattern)].map(match => ({
    info: match[3]!.trim(),
    body: match[4]!,
    line: lineAt(text, match.index),
  }))
}

/** Inline links and images, and reference definitions; not what stands in code. */
export function findLinks(text: string): Link[] {
  const prose = withoutCode(text)
  const inline = /!?\[(?:[^\][]|\[[^\]]*\])*\]\(\s*<?([^\s)>]+)>?(?:\s+["'][^)]*)?\)/g
  const definition = /^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?/gm
  const image = /<img\b[^>]*\bsrc="([^"]+)"/g
  return [inline, definition, image]
    .flatMap(pattern => [...prose.matchAll(pattern)])
    .map(match => ({ target: match[1]!, line: lineAt(text, match.index) }))
}

/** Files of this repository that code, inline or fenced, names from the root. Capitals stand for something else: `bench/NAME/`. */
export function findPaths(text: string): Link[] {
  const path =
    /(?<![\w./@-])(?:packages|tools|bench|examples|docs|interop)(?:\/[\w.-]+)+\.(?:ts|js|json|md|yaml)\b/g
  return [...text.matchAll(path)]
    .map(match => ({ target: match[0], line: lineAt(text, match.index) }))
    .filter(({ target }) => !/(?:^|\/)[A-Z]{2,}\//.test(target))
}

/** The anchors of its headings, as GitHub makes them. */
export function findAnchors(text: string): Set<string> {
  const anchors = new Set<string>()
  const prose = text.replace(fencePattern, '')
  for (const match of prose.matchAll(/^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$/gm)) {
    const base = match[1]!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-')
    let anchor = base
    for (let i = 1; anchors.has(anchor); i++) anchor = `${base}-${i}`
    anchors.add(anchor)
  }
  for (const match of prose.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(match[1]!)
  return anchors
}

/** Code is blanked, not removed, so that lines keep their numbers. */
function withoutCode(text: string): string {
  const erase = (code: string) => code.replace(/[^\n]/g, ' ')
  return text.replace(fencePattern, erase).replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, erase)
}
