import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import type { Jwk, SignatureAlgorithm, SigningKey, VerificationKey } from '../authentication/jwt/keys.ts'

/** Algorithms by the curve of the key. */
const curves: Readonly<Record<string, SignatureAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}
const rsaAlgorithms: readonly SignatureAlgorithm[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
/** Signature length in bytes, of both numbers together. */
const signatureLengths: Readonly<Record<string, number>> = { ES256: 64, ES384: 96, ES512: 132 }
/** Shorter RSA keys can be broken; Go rejects them too. */
const shortestModulus = 1024

/** Generates a private key (P-256), in PEM. */
export function generateSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Throws an Error, without any of the text, when it contains no private key that can sign tokens. */
export function readSigningKey(pem: string): SigningKey {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw new Error('data does not contain a valid RSA or ECDSA private key')
  }
  const publicKey = createPublicKey(key)
  const algorithm = algorithmOf(publicKey)
  return {
    keyId: identify(publicKey),
    algorithm,
    sign: input => sign(digestOf(algorithm), input, { key, dsaEncoding: 'ieee-p1363' }),
  }
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g

/** Every key of a file: public keys, those of certificates, and the public halves of private keys. */
export function readVerificationKeys(pem: string): VerificationKey[] {
  const keys = [...pem.matchAll(block)].flatMap(([text]) => {
    try {
      return [createPublicKey(text)]
    } catch {
      return [] // EC parameters, and other blocks that are not keys
    }
  })
  if (keys.length === 0) throw new Error('data does not contain any valid RSA or ECDSA public keys')
  return keys.map(key => {
    const algorithm = algorithmOf(key)
    const keyId = identify(key)
    const { kty, crv, n, e, x, y } = key.export({ format: 'jwk' })
    const jwk = { use: 'sig', kty: kty!, kid: keyId, crv, alg: algorithm, n, e, x, y }
    return verificationKey(key, keyId, [algorithm], dropUndefined(jwk))
  })
}

/** A key of an identity provider. Undefined when no supported algorithm uses it. */
export function importJwk(jwk: Jwk): VerificationKey | undefined {
  if (jwk.use !== undefined && jwk.use !== 'sig') return undefined
  let key: KeyObject
  try {
    key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  } catch {
    return undefined
  }
  const possible = key.asymmetricKeyType === 'rsa' ? rsaAlgorithms : ecAlgorithms(key)
  const algorithms = jwk.alg === undefined ? possible : possible.filter(name => name === jwk.alg)
  if (algorithms.length === 0 || !isLongEnough(key)) return undefined
  return verificationKey(key, jwk.kid ?? '', algorithms, jwk)
}

function verificationKey(
  key: KeyObject,
  keyId: string,
  algorithms: readonly SignatureAlgorithm[],
  jwk: Jwk,
): VerificationKey {
  return {
    keyId,
    algorithms,
    jwk,
    verify(algorithm, input, signature) {
      const length = signatureLengths[algorithm]
      if (length !== undefined && signature.length !== length) return false
      try {
        return verify(digestOf(algorithm), input, { key, ...paddingOf(algorithm) }, signature)
      } catch {
        return false
      }
    },
  }
}

function paddingOf(algorithm: SignatureAlgorithm) {
  if (algorithm.startsWith('ES')) return { dsaEncoding: 'ieee-p1363' as const }
  if (algorithm.startsWith('PS')) {
    return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  }
  return { padding: constants.RSA_PKCS1_PADDING }
}

function digestOf(algorithm: SignatureAlgorithm): string {
  return `sha${algorithm.slice(2)}`
}

function ecAlgorithms(key: KeyObject): readonly SignatureAlgorithm[] {
  const algorithm = curves[key.asymmetricKeyDetails?.namedCurve ?? '']
  return algorithm ? [algorithm] : []
}

function algorithmOf(key: KeyObject): SignatureAlgorithm {
  if (key.asymmetricKeyType === 'rsa' && isLongEnough(key)) return 'RS256'
  const [algorithm] = key.asymmetricKeyType === 'ec' ? ecAlgorithms(key) : []
  if (!algorithm)
    throw new Error(
      'the key must be an RSA key of 1024 bits or more, or one on a curve P-256, P-384 or P-521',
    )
  return algorithm
}

function isLongEnough(key: KeyObject): boolean {
  return key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) >= shortestModulus
}

/** Upstream's key id: SHA-256 of the public key (SPKI, DER). */
function identify(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}

function dropUndefined(jwk: { readonly [name: string]: string | undefined; readonly kty: string }): Jwk {
  return Object.fromEntries(Object.entries(jwk).filter(([, value]) => value !== undefined)) as unknown as Jwk
}
