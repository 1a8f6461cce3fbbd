/** Base64url without padding, as tokens have it. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Undefined for anything else: two spellings of one token would be two tokens. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined
  // The last character may have bits that stand for nothing: they are zero.
  const spare = [0, 6, 4, 2][text.length % 4]!
  if (spare > 0 && alphabet.indexOf(text.at(-1)!) % 2 ** spare !== 0) return undefined
  return decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
}

export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

export function decodeBase64(text: string): Uint8Array | undefined {
  const binary = decodeBase64Binary(text)
  if (binary === undefined) return undefined
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

/** As text, a character for each byte. */
export function decodeBase64Binary(text: string): string | undefined {
  try {
    return atob(text)
  } catch {
    return undefined
  }
}
