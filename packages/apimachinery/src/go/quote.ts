/**
 * How Go prints a string as a literal (`%q`): what Kubernetes' messages put around every name and value. Lone
 * surrogates, which Go strings cannot hold, come out as the replacement character.
 */
export function quote(text: string): string {
  if (plain.test(text)) return `"${text}"`
  let out = '"'
  for (const char of text) {
    const code = char.codePointAt(0)!
    out += escapes.get(char) ?? (isPrintable(char, code) ? char : escapeCode(code))
  }
  return `${out}"`
}

const plain = /^[ !#-[\]-~]*$/

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
])

// Letters, marks, numbers, punctuation, symbols and the plain space: what Go's unicode.IsPrint accepts.
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

function isPrintable(char: string, code: number): boolean {
  return !(code >= 0xd800 && code <= 0xdfff) && printable.test(char)
}

function escapeCode(code: number): string {
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0')
}

/** A list of strings as Go's `%q` prints it: `["a" "b"]`. */
export function quoteAll(items: readonly string[]): string {
  return `[${items.map(quote).join(' ')}]`
}

/** A list of strings as Go's `%#v` prints it: `[]string{"a", "b"}`. */
export function quoteList(items: readonly string[]): string {
  return `[]string{${items.map(quote).join(', ')}}`
}

/** What Go's unicode.IsPrint says of the character that `char` is. */
export function isPrintableCharacter(char: string): boolean {
  return isPrintable(char, char.codePointAt(0)!)
}
