import { isObject, readJson } from '@coxswain/apimachinery/json'
import { newBadRequest } from '@coxswain/apimachinery/status'
import { decodeBase64, encodeBase64Url, encodeText } from '@coxswain/kit'

/** Where a list continues: after which key, and at which revision (-1: the current one). */
export interface ContinueToken {
  readonly revision: number
  /** Relative to the list's prefix. */
  readonly start: string
}

export function encodeContinueToken(token: ContinueToken): string {
  return encodeBase64Url(
    encodeText(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.start })),
  )
}

/** Throws a 400 for a token that this server did not issue. */
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

/** Like Go's decoder: ignores the unused bits of the last character. */
function fromBase64Url(text: string): Uint8Array {
  const illegal = text.search(/[^A-Za-z0-9_-]/)
  const bytes = illegal < 0 ? decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/')) : undefined
  if (!bytes) throw new Error(`illegal base64 data at input byte ${illegal < 0 ? text.length : illegal}`)
  return bytes
}
