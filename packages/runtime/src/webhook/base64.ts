/** Standard base64 of bytes, as JSON carries them. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

export const encodeText = (text: string): string => encodeBase64(new TextEncoder().encode(text))

/** Undefined for what is not base64. */
export function decodeText(base64: string): string | undefined {
  try {
    const binary = atob(base64)
    return new TextDecoder().decode(Uint8Array.from(binary, char => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}
