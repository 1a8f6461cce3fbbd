import { decodeBase64, encodeBase64 } from '@coxswain/kit'
import { type Library, overload } from '../functions.ts'
import { fault } from '../values.ts'

/** Standard base64 with or without padding, without white space. */
export function decodeBareBase64(text: string): Uint8Array | undefined {
  const bare = text.replace(/=+$/, '')
  if (!/^[A-Za-z0-9+/]*$/.test(bare) || bare.length % 4 === 1) return undefined
  return decodeBase64(bare)
}

/** cel-go's encoders extension. Kubernetes does not offer it; the conformance suite tests it. */
export const encodersLibrary: Library = {
  name: 'encoders',
  overloads: [
    overload(
      'base64_decode_string',
      'base64.decode(string): bytes',
      (s: string) => decodeBareBase64(s) ?? fault('illegal base64 data at input byte 0'),
    ),
    overload('base64_encode_bytes', 'base64.encode(bytes): string', encodeBase64),
  ],
}
