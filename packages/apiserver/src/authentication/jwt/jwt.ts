import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { decodeBase64Url, decodeText, encodeBase64Url, encodeText } from '@coxswain/kit'
import type { SignatureAlgorithm, SigningKey, VerificationKey } from './keys.ts'

/** A JSON web token that was parsed but not verified: do not trust its claims. */
export interface Jwt {
  readonly algorithm: string
  readonly keyId: string
  readonly claims: JsonObject
  readonly input: Uint8Array
  readonly signature: Uint8Array
}

/** The parsed token of a request. */
const read = new WeakMap<object, { readonly token: string; readonly jwt: Jwt | undefined }>()

/** As {@link parseJwt}, once for all authenticators of the same request. */
export function parseJwtOnce(token: string, question: object): Jwt | undefined {
  let known = read.get(question)
  if (known?.token !== token) {
    known = { token, jwt: parseJwt(token) }
    read.set(question, known)
  }
  return known.jwt
}

/** Undefined when the text is not a signed token in compact form. */
export function parseJwt(token: string): Jwt | undefined {
  const parts = token.split('.', 4)
  if (parts.length !== 3) return undefined
  const [head = '', body = '', tail = ''] = parts
  const header = readPart(head)
  const claims = readPart(body)
  const signature = decodeBase64Url(tail)
  // No critical extension is supported.
  if (!header || !claims || !signature || header.crit !== undefined) return undefined
  const { alg, kid } = header
  if (typeof alg !== 'string') return undefined
  const input = encodeText(`${head}.${body}`)
  return { algorithm: alg, keyId: typeof kid === 'string' ? kid : '', claims, input, signature }
}

/** Whether one of `keys` made the signature. A token with a key id is checked with that key only. */
export function isSignedBy(jwt: Jwt, keys: readonly VerificationKey[]): boolean {
  const algorithm = jwt.algorithm as SignatureAlgorithm
  return keys.some(
    key =>
      (jwt.keyId === '' || key.keyId === '' || key.keyId === jwt.keyId) &&
      key.algorithms.includes(algorithm) &&
      key.verify(algorithm, jwt.input, jwt.signature),
  )
}

/** A signed JSON web token in compact form. */
export function signJwt(claims: JsonObject, key: SigningKey): string {
  const header = { alg: key.algorithm, kid: key.keyId }
  const input = `${encodePart(header)}.${encodePart(claims)}`
  return `${input}.${encodeBase64Url(key.sign(encodeText(input)))}`
}

/** The `aud` claim: one, several or none. Undefined when it is malformed. */
export function readAudience(claim: unknown): readonly string[] | undefined {
  if (claim === undefined || claim === null) return []
  if (typeof claim === 'string') return [claim]
  return Array.isArray(claim) && claim.every(item => typeof item === 'string') ? claim : undefined
}

function encodePart(value: JsonObject): string {
  return encodeBase64Url(encodeText(JSON.stringify(value)))
}

function readPart(part: string): JsonObject | undefined {
  const bytes = decodeBase64Url(part)
  if (!bytes) return undefined
  try {
    const value: unknown = JSON.parse(decodeText(bytes))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
