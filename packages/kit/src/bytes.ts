/** Bytes and text: the one place for UTF-8, base64, hexadecimal and concatenation. No limits here: callers bound what they pass. */

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Text as UTF-8. */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

/** UTF-8 as text; invalid sequences become U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** All pieces, one after the other. */
export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0
  for (const piece of pieces) length += piece.length
  const joined = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}

/** Uses the engine's native base64 if available, otherwise `btoa`. */
interface NativeBase64 {
  toBase64(options?: { alphabet?: 'base64' | 'base64url'; omitPadding?: boolean }): string
}

function toBinary(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return binary
}

/** Standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const native = bytes as Uint8Array & Partial<NativeBase64>
  return native.toBase64 ? native.toBase64() : btoa(toBinary(bytes))
}

/** Standard base64, padded or not; white space is skipped. Undefined when the text is anything else. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  let binary: string
  try {
    binary = atob(text)
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

/** As {@link decodeBase64}, but as Go reads base64: it is padded, and only line ends are skipped. */
export function decodePaddedBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const compact = text.includes('\n') || text.includes('\r') ? text.replaceAll(/[\r\n]/g, '') : text
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return undefined
  return decodeBase64(compact)
}

/** The base64 of a text in UTF-8. */
export function encodeBase64Text(text: string): string {
  return encodeBase64(encodeText(text))
}

/** The UTF-8 text behind base64; undefined when it is not base64. */
export function decodeBase64Text(base64: string): string | undefined {
  const bytes = decodeBase64(base64)
  return bytes && decodeText(bytes)
}

/** Base64url without padding, as tokens have it. */
export function encodeBase64Url(bytes: Uint8Array): string {
  const native = bytes as Uint8Array & Partial<NativeBase64>
  if (native.toBase64) return native.toBase64({ alphabet: 'base64url', omitPadding: true })
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Undefined for anything but the one canonical spelling: two spellings of one token would be two tokens. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined
  const bytes = decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
  return bytes && encodeBase64Url(bytes) === text ? bytes : undefined
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Two lower-case digits a byte. */
export function encodeHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += hexDigits[byte]
  return text
}
