/**
 * No new copies: six or more lines that stand in two places, equal but for names of variables and types and for literals. What was there
 * already is in `ratchet.json`, by a fingerprint of the lines that neither moving a file nor renaming a variable changes.
 * Blank lines, comments, lone punctuation and imports do not count.
 */
import { createHash } from 'node:crypto'
import { createRatchet, type Occurrence, type Ratchet } from './ratchet.ts'
import { isTest, readSources, type SourceFile } from './source.ts'

const shortest = 6
/** Fewer names of members and functions than this in six lines is the grammar repeating itself, not us. */
const fewestNames = 4

interface Line {
  /** Counted from 1. */
  readonly number: number
  readonly text: string
  readonly names: number
}

export const repeatedLines: Ratchet = createRatchet({
  name: 'repeated-lines',
  rule: 'a copy of lines that stand elsewhere',
  find: findCopies,
})

interface Place {
  readonly file: string
  readonly line: number
}

async function findCopies(root: string): Promise<readonly Occurrence[]> {
  const windows = new Map<string, Place[]>()
  for (const source of await readSources(root, ['{packages,tools,bench,examples,interop}/**/*.ts'])) {
    if (isTest(source.path)) continue
    const lines = significantLines(source)
    for (let at = 0; at + shortest <= lines.length; at++) {
      const window = lines.slice(at, at + shortest)
      if (window.reduce((sum, { names }) => sum + names, 0) < fewestNames) continue
      const key = window.map(({ text }) => text).join('\n')
      const places = windows.get(key)
      const place = { file: source.path, line: window[0]!.number }
      if (places) places.push(place)
      else windows.set(key, [place])
    }
  }
  return [...windows].flatMap(([text, [first, ...copies]]) =>
    copies.map(({ file, line }) => ({
      key: createHash('sha256').update(text).digest('hex').slice(0, 8),
      file,
      line,
      message: `the next ${shortest} lines stand at ${first!.file}:${first!.line} too: write them once`,
    })),
  )
}

const keyword =
  /^(?:as|async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|if|implements|import|in|instanceof|interface|is|keyof|let|new|null|of|private|readonly|return|satisfies|static|super|switch|this|throw|true|try|type|typeof|undefined|using|var|void|while|yield)$/

/** The lines of code, white space folded; names of members and of what is called stay, other names and literals are masked. */
function significantLines({ code }: SourceFile): readonly Line[] {
  const withoutImports = code.replace(/^import\b[^'"]*(['"])[^\n]*/gm, text => text.replace(/[^\n]/g, ''))
  const lines: Line[] = []
  for (const [index, raw] of withoutImports.split('\n').entries()) {
    if (!/[\w$]/.test(raw)) continue
    let names = 0
    const text = raw
      .trim()
      .replace(/(['"`])\s*\1/g, '"')
      .replace(/\bfunction\s+[\w$]+/, 'function 0')
      .replace(
        /(\.\s*#?)?[A-Za-z_$][\w$]*(?=(\s*\()?)|\b\d[\w.]*/g,
        (word, member: string | undefined, call: string | undefined) => {
          if (!member && keyword.test(word)) return word
          if (member || call) {
            names++
            return word
          }
          return '_'
        },
      )
      .replace(/\s+/g, ' ')
    lines.push({ number: index + 1, text, names })
  }
  return lines
}
