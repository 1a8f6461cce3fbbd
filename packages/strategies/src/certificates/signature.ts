import { type DerElement, derTags, readObjectIdentifier, readWithin } from '@coxswain/kit/x509'

/** A signature with everything it takes to verify it. */
export interface SignedMessage {
  readonly scheme: 'RSA' | 'RSA-PSS' | 'ECDSA' | 'Ed25519'
  /** The hash that is signed; undefined for Ed25519, which has its own. */
  readonly hash: 'sha1' | 'sha256' | 'sha384' | 'sha512' | undefined
  readonly message: Uint8Array
  readonly signature: Uint8Array
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array
}

/** Whether the signature is valid. Never throws. */
export type VerifySignature = (signed: SignedMessage) => boolean

/** A signature as X.509 has it. */
export interface Signed {
  readonly message: Uint8Array
  /** AlgorithmIdentifier. */
  readonly algorithm: DerElement
  /** The content of the BIT STRING. */
  readonly signature: Uint8Array
  /** SubjectPublicKeyInfo. */
  readonly publicKey: DerElement
}

type Algorithm = Pick<SignedMessage, 'scheme' | 'hash'>

const rsaPss = '1.2.840.113549.1.1.10'
const algorithms: Readonly<Record<string, Algorithm>> = {
  '1.2.840.113549.1.1.5': { scheme: 'RSA', hash: 'sha1' },
  '1.2.840.113549.1.1.11': { scheme: 'RSA', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { scheme: 'RSA', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { scheme: 'RSA', hash: 'sha512' },
  '1.2.840.10045.4.1': { scheme: 'ECDSA', hash: 'sha1' },
  '1.2.840.10045.4.3.2': { scheme: 'ECDSA', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { scheme: 'ECDSA', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { scheme: 'ECDSA', hash: 'sha512' },
  '1.3.101.112': { scheme: 'Ed25519', hash: undefined },
}
const hashes: Readonly<Record<string, SignedMessage['hash']>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
}

/** By the algorithm of the key: the name of the algorithm and of the type in Go. */
const keys: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  '1.2.840.113549.1.1.1': { name: 'RSA', type: '*rsa.PublicKey' },
  '1.2.840.10045.2.1': { name: 'ECDSA', type: '*ecdsa.PublicKey' },
  '1.3.101.112': { name: 'Ed25519', type: 'ed25519.PublicKey' },
}

const unsupported = 'x509: cannot verify signature: algorithm unimplemented'

/** Why a signature is not accepted, in Go's words; undefined when it is valid. Without a verifier no signature is valid. */
export function describeSignatureProblem(
  signed: Signed,
  verify: VerifySignature | undefined,
): string | undefined {
  const algorithm = readAlgorithm(signed.algorithm)
  const [keyAlgorithm] = readWithin(signed.publicKey, derTags.sequence) ?? []
  const key = keys[readIdentifier(keyAlgorithm)]
  if (!verify || !algorithm || !key) return unsupported
  const { scheme, hash } = algorithm
  const name = scheme === 'RSA-PSS' ? 'RSA' : scheme
  if (key.name !== name)
    return `x509: signature algorithm specifies an ${name} public key, but have public key of type ${key.type}`
  const { message, publicKey } = signed
  // The first byte of a BIT STRING counts its unused bits.
  const signature = signed.signature.subarray(1)
  if (verify({ scheme, hash, message, signature, publicKey: publicKey.whole })) return undefined
  return name === 'RSA' ? 'crypto/rsa: verification error' : `x509: ${name} verification failure`
}

function readAlgorithm(identifier: DerElement): Algorithm | undefined {
  const oid = readIdentifier(identifier)
  if (oid !== rsaPss) return algorithms[oid]
  const [, parameters] = readWithin(identifier, derTags.sequence) ?? []
  const [tagged] = readWithin(parameters, derTags.sequence) ?? []
  const [digest] = readWithin(tagged, derTags.context0) ?? []
  const hash = hashes[readIdentifier(digest)]
  return hash && { scheme: 'RSA-PSS', hash }
}

/** The OID of an AlgorithmIdentifier; empty where there is none. */
function readIdentifier(identifier: DerElement | undefined): string {
  const [oid] = readWithin(identifier, derTags.sequence) ?? []
  return oid?.tag === derTags.objectIdentifier ? readObjectIdentifier(oid.content) : ''
}
