import { decodePaddedBase64 } from '../bytes.ts'

/** One block of a PEM text. */
export interface PemBlock {
  readonly type: string
  readonly headers: number
  readonly bytes: Uint8Array
}

const form = /-----BEGIN ([^\r\n]*?)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----[ \t]*(?:\r?\n|$)/g

/** The well-formed blocks of a PEM text, in order; other text is skipped. */
export function* readPem(text: string): Generator<PemBlock, void, undefined> {
  for (const [, type = '', content = ''] of text.matchAll(form)) {
    const lines = content.split(/\r?\n/)
    let headers = 0
    while (lines[headers]?.includes(':')) headers++
    const bytes = decodePaddedBase64(lines.slice(headers).join('').replace(/\s/g, ''))
    if (bytes) yield { type, headers, bytes }
  }
}
