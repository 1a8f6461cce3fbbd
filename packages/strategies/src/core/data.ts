import { encodeText } from '@coxswain/kit'

/** What the values of a ConfigMap or a Secret may have together. */
export const maxDataBytes: number = 1024 * 1024

/** The bytes of a text in UTF-8. */
export function textLength(text: string): number {
  return encodeText(text).length
}

/** The bytes behind base64 text that has been read before. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}
