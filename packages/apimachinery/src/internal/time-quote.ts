const encoder = new TextEncoder()

/** How Go's time package quotes what it was given: plain quotes, every byte beyond printable ASCII as `\xNN`. */
export function timeQuote(text: string): string {
  let out = '"'
  for (const char of text) {
    const code = char.codePointAt(0)!
    if (code >= 0x20 && code < 0x80) out += char === '"' || char === '\\' ? `\\${char}` : char
    else for (const byte of encoder.encode(char)) out += `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return `${out}"`
}
