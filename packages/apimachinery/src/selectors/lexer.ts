/** The tokens of a label selector's text. Literals are what messages show. */
export type TokenKind =
  | 'end'
  | ')'
  | ','
  | '!'
  | '=='
  | '='
  | '>'
  | 'identifier'
  | 'in'
  | '<'
  | '!='
  | 'notin'
  | '('

export interface Token {
  readonly kind: TokenKind
  readonly literal: string
}

const special = 1
const space = 2
const end = 4
const classes: Uint8Array = new Uint8Array(128)
for (const char of '=!(),><') classes[char.charCodeAt(0)] = special
for (const char of ' \t\r\n') classes[char.charCodeAt(0)] = space
classes[0] = end

function classAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code < 128 ? classes[code]! : 0
}

const symbols: ReadonlySet<string> = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '('])

/**
 * All tokens up to and including the end. As upstream, a NUL ends a token and is skipped; at the beginning of a token it
 * ends the text.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    while (at < text.length && classAt(text, at) === space) at++
    if (at >= text.length || classAt(text, at) === end) {
      tokens.push({ kind: 'end', literal: '' })
      return tokens
    }
    const literal = classAt(text, at) === special ? symbolAt(text, at) : wordAt(text, at)
    tokens.push({ kind: kindOf(literal), literal })
    at += literal.length
    if (at < text.length && classAt(text, at) === end) at++
  }
}

function kindOf(literal: string): TokenKind {
  return literal === 'in' || literal === 'notin' || symbols.has(literal)
    ? (literal as TokenKind)
    : 'identifier'
}

function wordAt(text: string, start: number): string {
  let at = start
  while (at < text.length && classAt(text, at) === 0) at++
  return text.slice(start, at)
}

// The longest run of special characters that is a symbol: one or two.
function symbolAt(text: string, start: number): string {
  const two = text.slice(start, start + 2)
  return symbols.has(two) ? two : text.slice(start, start + 1)
}
