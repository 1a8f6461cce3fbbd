export interface PemBlock {
  readonly type: string
  readonly headers: number
  readonly bytes: Uint8Array
}

const form = /-----BEGIN ([^\r\n]*?)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----[ \t]*(?:\r?\n|$)/g

/** The well-formed blocks of a PEM text, in their order; what stands between them is passed over. */
export function* readPem(text: string): Generator<PemBlock, void, undefined> {
  for (const [, type = '', content = ''] of text.matchAll(form)) {
    const lines = content.split(/\r?\n/)
    let headers = 0
    while (lines[headers]?.includes(':')) headers++
    const bytes = decodeBase64(lines.slice(headers).join(''))
    if (bytes) yield { type, headers, bytes }
  }
}

/** Undefined when it is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/\s/g, '')
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return undefined
  return Uint8Array.from(atob(compact), char => char.charCodeAt(0))
}
