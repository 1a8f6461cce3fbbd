import { encodeText } from '@coxswain/kit'

const lossy = new TextDecoder('utf-8')

export interface Decoded {
  readonly text: string
  /** False when the escaped bytes are not UTF-8: `text` then has U+FFFD in their place. */
  readonly utf8: boolean
}

/** Decodes percent-encoding once. Undefined when a `%` is not followed by two hexadecimal digits. */
export function percentDecode(text: string): Decoded | undefined {
  if (!text.includes('%')) return { text, utf8: true }
  try {
    return { text: decodeURIComponent(text), utf8: true }
  } catch {
    return decodeBytes(text)
  }
}

/** Percent-encodes a path segment. `.` and `..` stay unchanged: no server of ours resolves them. */
export function encodeSegment(segment: string): string {
  return encodeURIComponent(segment)
}

function decodeBytes(text: string): Decoded | undefined {
  const bytes: number[] = []
  const plain = encodeText(text)
  for (let i = 0; i < plain.length; i++) {
    if (plain[i] !== 0x25) {
      bytes.push(plain[i]!)
      continue
    }
    const high = hexDigit(plain[i + 1])
    const low = hexDigit(plain[i + 2])
    if (high < 0 || low < 0) return undefined
    bytes.push(high * 16 + low)
    i += 2
  }
  return { text: lossy.decode(new Uint8Array(bytes)), utf8: false }
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
