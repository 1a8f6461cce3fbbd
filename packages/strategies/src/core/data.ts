const encoder = new TextEncoder()

/** What the values of a ConfigMap or a Secret may have together. */
export const maxDataBytes: number = 1024 * 1024

/** The bytes of a text in UTF-8. */
export function textLength(text: string): number {
  return encoder.encode(text).length
}

/** The bytes behind base64 text that has been read before. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}

/** The base64 of a text in UTF-8. */
export function encodeBase64(text: string): string {
  let binary = ''
  for (const byte of encoder.encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** The text behind base64; bytes that are no UTF-8 come out as replacement characters. */
export function decodeBase64(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), char => char.charCodeAt(0)))
}
