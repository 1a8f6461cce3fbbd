import { isObject, newBadRequest, readJson } from '@coxswain/apimachinery'
import { encodeText } from '@coxswain/kit'

/** Where a list goes on: after which key, and at which revision (-1: whatever is current). */
export interface ContinueToken {
  readonly revision: number
  /** Relative to the list's own prefix. */
  readonly start: string
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

export function encodeContinueToken(token: ContinueToken): string {
  return toBase64Url(
    encodeText(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.start })),
  )
}

/** Throws a 400 for a token that this server did not make. */
export function decodeContinueToken(text: string): ContinueToken {
  const reject = (detail: string) =>
    newBadRequest(`invalid continue token: continue key is not valid: ${detail}`)
  let parsed: unknown
  try {
    parsed = readJson(fromBase64Url(text)).value
  } catch (error) {
    throw reject(error instanceof Error ? error.message : String(error))
  }
  if (!isObject(parsed)) throw reject('not an object')
  if (parsed.v !== 'meta.k8s.io/v1') {
    throw newBadRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${JSON.stringify(parsed.v)}`,
    )
  }
  const { rv, start } = parsed
  if (typeof rv !== 'number' || rv === 0 || !Number.isSafeInteger(rv)) {
    throw newBadRequest(
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    )
  }
  if (typeof start !== 'string' || start === '') {
    throw newBadRequest(
      'invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
    )
  }
  if (start.startsWith('/') || start.split('/').includes('..')) {
    throw newBadRequest(`invalid continue token: continue key is not valid: ${JSON.stringify(start)}`)
  }
  return { revision: rv, start }
}

function toBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i
    const word = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    text += alphabet[word >> 18]! + alphabet[(word >> 12) & 63]!
    if (left > 1) text += alphabet[(word >> 6) & 63]!
    if (left > 2) text += alphabet[word & 63]!
  }
  return text
}

function fromBase64Url(text: string): Uint8Array {
  const out: number[] = []
  let bits = 0
  let held = 0
  for (let i = 0; i < text.length; i++) {
    const value = alphabet.indexOf(text[i]!)
    if (value < 0) throw new Error(`illegal base64 data at input byte ${i}`)
    held = (held << 6) | value
    bits += 6
    if (bits >= 8) {
      bits -= 8
      out.push((held >> bits) & 255)
      held &= (1 << bits) - 1
    }
  }
  return Uint8Array.from(out)
}
