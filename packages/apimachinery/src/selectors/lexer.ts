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

const specials = '=!(),><'
const spaces = ' \t\r\n'
const symbols: ReadonlySet<string> = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '('])

/**
 * All tokens up to and including the end. As upstream, a NUL ends a token and is skipped; at the beginning of a token it
 * ends the text.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    while (at < text.length && spaces.includes(text[at]!)) at++
    if (at >= text.length || text[at] === '\0') {
      tokens.push({ kind: 'end', literal: '' })
      return tokens
    }
    const scanned = specials.includes(text[at]!) ? scanSymbol(text, at) : scanWord(text, at)
    tokens.push(scanned.token)
    at = scanned.next
  }
}

function scanWord(text: string, start: number): { token: Token; next: number } {
  let end = start
  while (
    end < text.length &&
    text[end] !== '\0' &&
    !specials.includes(text[end]!) &&
    !spaces.includes(text[end]!)
  ) {
    end++
  }
  const literal = text.slice(start, end)
  const kind = literal === 'in' || literal === 'notin' ? literal : 'identifier'
  return { token: { kind, literal }, next: text[end] === '\0' ? end + 1 : end }
}

// The longest run of special characters that is a symbol.
function scanSymbol(text: string, start: number): { token: Token; next: number } {
  let literal = ''
  let end = start
  for (; end < text.length && specials.includes(text[end]!); end++) {
    const longer = text.slice(start, end + 1)
    if (!symbols.has(longer)) break
    literal = longer
  }
  return {
    token: { kind: literal as TokenKind, literal },
    next: end < text.length && text[end] === '\0' ? end + 1 : end,
  }
}
