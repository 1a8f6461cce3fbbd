import { encodeText } from '@coxswain/kit'

const printed: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
  return byte >= 0x20 && byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
})

/** How Go's time package quotes what it was given: plain quotes, every byte beyond printable ASCII as `\xNN`. */
export function timeQuote(text: string): string {
  let out = '"'
  for (const byte of encodeText(text)) out += printed[byte]
  return `${out}"`
}
