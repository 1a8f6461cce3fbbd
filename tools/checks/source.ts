/** Reads TypeScript just well enough for the checks: without a compiler, but never fooled by comments or strings. */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string
  readonly text: string
  /** `text` with comments and the contents of strings, templates and regular expressions blanked; same length and lines. */
  readonly code: string
}

const skipped = [
  '**/node_modules/**',
  '**/dist/**',
  '.cache/**',
  '**/src/gen/**',
  '**/testdata/**',
  '**/fixtures/**',
]

/** The paths under `root` that match, sorted; what is installed, built, generated or data is left out. */
export async function findFiles(root: string, patterns: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for await (const path of glob([...patterns], { cwd: root, exclude: skipped })) found.add(path)
  return [...found].sort()
}

export async function readSources(root: string, patterns: readonly string[]): Promise<SourceFile[]> {
  const paths = await findFiles(root, patterns)
  return Promise.all(
    paths.map(async path => {
      const text = await readFile(join(root, path), 'utf8')
      return { path, text, code: blankOnce(text) }
    }),
  )
}

/** Most checks read the same files, and blanking takes longer than reading. */
const blanked = new Map<string, string>()

function blankOnce(text: string): string {
  const known = blanked.get(text)
  if (known !== undefined) return known
  const code = blank(text)
  blanked.set(text, code)
  return code
}

/** Tests, the suites several of them share, and what only they use: these may do what the core may not. */
export const isTest = (path: string): boolean =>
  /\.(?:test|suite)\.ts$|\/(?:type-tests|test-support|oracle)\//.test(path)

/** The line of the character at `index`, counted from 1. */
export function lineAt(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Characters after which `/` begins a regular expression rather than a division. */
const beforeRegExp =
  /(?:^|[({[,;:=!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|yield|await))$/

/** Replaces comments and literals by spaces, keeping quotes, line breaks and the code inside `${}`. */
export function blank(text: string): string {
  const out = text.split('')
  /** For each template literal we are inside of: how many braces are open in its current `${}`. */
  const templates: number[] = []
  let at = 0
  const erase = (until: number) => {
    for (; at < until && at < text.length; at++) if (text[at] !== '\n') out[at] = ' '
  }
  /** Erases up to a closing quote, or in a template to the next `${`, whose code is left alone. */
  const eraseTemplate = () => {
    while (at < text.length) {
      if (text[at] === '\\') erase(at + 2)
      else if (text[at] === '`') return void at++
      else if (text.startsWith('${', at)) {
        templates.push(0)
        at += 2
        return
      } else erase(at + 1)
    }
  }
  const eraseQuoted = (quote: string) => {
    at++
    while (at < text.length && text[at] !== quote && text[at] !== '\n')
      erase(text[at] === '\\' ? at + 2 : at + 1)
    at++
  }
  const eraseRegExp = () => {
    at++
    let inClass = false
    while (at < text.length && text[at] !== '\n' && (inClass || text[at] !== '/')) {
      if (text[at] === '[') inClass = true
      else if (text[at] === ']') inClass = false
      erase(text[at] === '\\' ? at + 2 : at + 1)
    }
    at++
  }
  let lastCode = ''
  while (at < text.length) {
    const char = text[at]!
    if (text.startsWith('//', at)) {
      const end = text.indexOf('\n', at)
      erase(end < 0 ? text.length : end)
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2)
      erase(end < 0 ? text.length : end + 2)
    } else if (char === "'" || char === '"') {
      eraseQuoted(char)
      lastCode = '"'
    } else if (char === '`') {
      at++
      eraseTemplate()
      lastCode = '"'
    } else if (char === '/' && beforeRegExp.test(lastCode.trimEnd())) {
      eraseRegExp()
      lastCode = '"'
    } else {
      if (templates.length > 0) {
        if (char === '{') templates[templates.length - 1]!++
        else if (char === '}' && templates[templates.length - 1]!-- === 0) {
          templates.pop()
          at++
          eraseTemplate()
          lastCode = '"'
          continue
        }
      }
      lastCode = (lastCode + char).slice(-12)
      at++
    }
  }
  return out.join('')
}

export interface Import {
  readonly specifier: string
  readonly line: number
  /** A type-only import leaves no trace at run time. */
  readonly typeOnly: boolean
}

/** Every static import, re-export and `import()` of a literal. */
export function findImports({ text, code }: SourceFile): Import[] {
  const imports: Import[] = []
  const pattern =
    /\b(import|export)\b(\s+type\b)?(?:[\s\w$*{},]|\btype\b)*?\bfrom\s*(['"])|\bimport\s*(['"])|\bimport\s*\(\s*(['"])/g
  for (const match of code.matchAll(pattern)) {
    const start = match.index + match[0].length
    const end = text.indexOf(match[3] ?? match[4] ?? match[5]!, start)
    imports.push({
      specifier: text.slice(start, end),
      line: lineAt(text, start),
      typeOnly: match[2] !== undefined,
    })
  }
  return imports
}
