/** Parses shell scripts that are sequences of simple commands. */

/** How two commands are joined; a line break is a `;`. */
export type Joint = ';' | '&&' | '||'

export interface SimpleCommand {
  /** A word that only a shell could expand contains {@link unknownText}. */
  readonly words: readonly string[]
  /** The operator before it. */
  readonly before: Joint
  /** The operator after it; undefined at the end. */
  readonly next: Joint | undefined
}

export const unknownText = '\0'

type Environment = ReadonlyMap<string, string>

/** Variables, and the few command substitutions that take no time. */
const substitution = String.raw`\$\w+|\$\{\w+\}|\$\((?:date|hostname)[^()]*\)`
const quotedParts = new RegExp(String.raw`\\([^])|${substitution}`, 'g')
/** Output may be redirected; input, background, pipes and groups are not simple. */
const token = new RegExp(
  [
    String.raw`(?<space>(?:[ \t]|\\\n)+)`,
    String.raw`(?<comment>(?<=^|[\s;])#[^\n]*)`,
    String.raw`(?<joint>&&|\|\||;|\n)`,
    String.raw`(?<redirection>[\d&]?>[>&]?[ \t]*[\w./-]+)`,
    String.raw`(?<piece>'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|${substitution}|[^\s'"\\$&|;<>()\x60#]+|#)`,
  ].join('|'),
  'y',
)

/** The commands in sequence, up to the first that cannot be parsed. */
export function* readScript(
  script: string,
  env: Environment,
): Generator<SimpleCommand | 'unknown', void, undefined> {
  let words: string[] = []
  let word: string | undefined
  let before: Joint = ';'
  const reader = new RegExp(token)
  while (reader.lastIndex < script.length) {
    const groups = reader.exec(script)?.groups
    const text = groups?.piece === undefined ? '' : textOf(groups.piece, env)
    if (!groups || text === undefined) return yield 'unknown'
    const { joint, piece } = groups
    if (piece !== undefined) {
      word = (word ?? '') + text
      continue
    }
    if (word !== undefined) words.push(word)
    word = undefined
    // A line may be empty, and one that ends in `&&` continues on the next.
    if (joint === undefined || (joint === '\n' && words.length === 0)) continue
    if (words.length === 0) return yield 'unknown'
    const next = joint === '\n' ? ';' : (joint as Joint)
    yield { words, before, next }
    words = []
    before = next
  }
  if (word !== undefined) words.push(word)
  if (words.length > 0) yield { words, before, next: undefined }
  else if (before !== ';') yield 'unknown'
}

/** The expansion of a piece of a word; undefined when it is more than text. */
function textOf(piece: string, env: Environment): string | undefined {
  if (piece.startsWith("'")) return piece.slice(1, -1)
  if (piece.startsWith('\\')) return piece.slice(1)
  if (piece.startsWith('$')) {
    const value = substitute(piece, env)
    return /\s/.test(value) ? unknownText : value // it would be split into words
  }
  if (!piece.startsWith('"')) return piece
  const inner = piece.slice(1, -1)
  if (/`|\$\(/.test(inner.replaceAll(quotedParts, ''))) return undefined
  return inner.replaceAll(quotedParts, (part, escaped: string | undefined) => {
    if (escaped === undefined) return substitute(part, env)
    return /[$`"\\]/.test(escaped) ? escaped : part
  })
}

function substitute(reference: string, env: Environment): string {
  return env.get(reference.replaceAll(/[${}]/g, '')) ?? unknownText
}
