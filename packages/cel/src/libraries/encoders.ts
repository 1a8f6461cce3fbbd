import { type Library, overload } from '../functions.ts'
import { fault } from '../values.ts'

export function decodeBase64(text: string): Uint8Array | undefined {
  const bare = text.replace(/=+$/, '')
  if (!/^[A-Za-z0-9+/]*$/.test(bare) || bare.length % 4 === 1) return undefined
  return Uint8Array.from(atob(bare), c => c.charCodeAt(0))
}

export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** cel-go's encoders extension. Kubernetes does not offer it; the conformance suite tests it. */
export const encodersLibrary: Library = {
  name: 'encoders',
  overloads: [
    overload(
      'base64_decode_string',
      'base64.decode(string): bytes',
      (s: string) => decodeBase64(s) ?? fault('illegal base64 data at input byte 0'),
    ),
    overload('base64_encode_bytes', 'base64.encode(bytes): string', encodeBase64),
  ],
}
