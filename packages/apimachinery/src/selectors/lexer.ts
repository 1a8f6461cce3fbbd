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

const symbols = [')', ',', '!', '==', '=', '>', '<', '!=', '(', 'in', 'notin'] as const
const tokens: ReadonlyMap<string, Token> = new Map(
  symbols.map(literal => [literal, { kind: literal, literal }]),
)
const endToken: Token = { kind: 'end', literal: '' }

/**
 * Gives a text's tokens one by one; after the last one, the end again and again. As upstream, a NUL ends a token and is
 * skipped; at the beginning of a token it ends the text.
 */
export class Lexer {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  next(): Token {
    const text = this.#text
    let at = this.#at
    while (at < text.length && classAt(text, at) === space) at++
    this.#at = at
    if (at >= text.length || classAt(text, at) === end) return endToken
    const literal = classAt(text, at) === special ? symbolAt(text, at) : wordAt(text, at)
    at += literal.length
    this.#at = at < text.length && classAt(text, at) === end ? at + 1 : at
    return tokens.get(literal) ?? { kind: 'identifier', literal }
  }
}

function wordAt(text: string, start: number): string {
  let at = start
  while (at < text.length && classAt(text, at) === 0) at++
  return text.slice(start, at)
}

// The longest run of special characters that is a symbol: one, or one and an equals sign.
function symbolAt(text: string, start: number): string {
  const first = text[start]!
  return (first === '=' || first === '!') && text[start + 1] === '=' ? `${first}=` : first
}
