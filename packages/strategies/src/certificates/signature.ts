import { sha256 } from '@coxswain/api'
import { encodeHex } from '@coxswain/kit'
import { type DerElement, derTags, readDer, readObjectIdentifier, readWithin } from '@coxswain/kit/x509'

/**
 * Signatures over SHA-256 with RSA (PKCS #1) and with ECDSA on P-256, as pure functions: the core has no crypto of its own.
 * They are slow and not constant in time, which is good enough for checking what is public anyway.
 */

const rsaEncryption = '1.2.840.113549.1.1.1'
const sha256WithRsa = '1.2.840.113549.1.1.11'
const ecPublicKey = '1.2.840.10045.2.1'
const prime256v1 = '1.2.840.10045.3.1.7'
const ecdsaWithSha256 = '1.2.840.10045.4.3.2'

/** What was signed, and how. */
export interface Signed {
  readonly message: Uint8Array
  /** AlgorithmIdentifier. */
  readonly algorithm: DerElement
  /** The content of the BIT STRING. */
  readonly signature: Uint8Array
  /** SubjectPublicKeyInfo. */
  readonly publicKey: DerElement
}

/** In Go's words what is wrong with a signature; undefined when it is right or of a kind that is not known here. */
export function describeSignatureProblem(signed: Signed): string | undefined {
  const [algorithm] = readWithin(signed.algorithm, derTags.sequence) ?? []
  const [keyAlgorithm, key] = readWithin(signed.publicKey, derTags.sequence) ?? []
  const [keyType, curve] = readWithin(keyAlgorithm, derTags.sequence) ?? []
  if (!algorithm || !keyType || !key) return undefined
  const kind = readObjectIdentifier(algorithm.content)
  const keyKind = readObjectIdentifier(keyType.content)
  const digest = toNumber(sha256(signed.message))
  const signature = signed.signature.subarray(1)
  const keyBytes = key.content.subarray(1)
  if (kind === sha256WithRsa && keyKind === rsaEncryption)
    return isRsaSignature(keyBytes, signature, digest) ? undefined : 'crypto/rsa: verification error'
  if (kind !== ecdsaWithSha256 || keyKind !== ecPublicKey) return undefined
  if (!curve || readObjectIdentifier(curve.content) !== prime256v1) return undefined
  return isEcdsaSignature(keyBytes, signature, digest) ? undefined : 'x509: ECDSA verification failure'
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x0${encodeHex(bytes)}`)
}

/** The two numbers of a SEQUENCE. */
function readPair(bytes: Uint8Array): [bigint, bigint] | undefined {
  const [outer] = readDer(bytes) ?? []
  const [first, second] = readWithin(outer, derTags.sequence) ?? []
  return first && second ? [toNumber(first.content), toNumber(second.content)] : undefined
}

/** DigestInfo of SHA-256 up to the digest. */
const digestInfo = '3031300d060960864801650304020105000420'

function isRsaSignature(key: Uint8Array, signature: Uint8Array, digest: bigint): boolean {
  const [modulus, exponent] = readPair(key) ?? []
  if (!modulus || !exponent) return false
  const size = Math.ceil(modulus.toString(16).length / 2)
  const padding = 'ff'.repeat(Math.max(0, size - 3 - 19 - 32))
  const expected = BigInt(`0x01${padding}00${digestInfo}${digest.toString(16).padStart(64, '0')}`)
  return signature.length === size && power(toNumber(signature), exponent, modulus) === expected
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  let square = base % modulus
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

const prime = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const coefficient = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/** A point in Jacobian coordinates; the one at infinity has z = 0. */
interface Point {
  readonly x: bigint
  readonly y: bigint
  readonly z: bigint
}

const infinity: Point = { x: 1n, y: 1n, z: 0n }
const generator: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  z: 1n,
}

const mod = (value: bigint): bigint => {
  const rest = value % prime
  return rest < 0n ? rest + prime : rest
}

function double({ x, y, z }: Point): Point {
  if (z === 0n) return infinity
  const yy = mod(y * y)
  const zz = mod(z * z)
  const s = mod(4n * x * yy)
  const m = mod(3n * (x - zz) * (x + zz))
  const x3 = mod(m * m - 2n * s)
  return { x: x3, y: mod(m * (s - x3) - 8n * yy * yy), z: mod(2n * y * z) }
}

function add(a: Point, b: Point): Point {
  if (a.z === 0n) return b
  if (b.z === 0n) return a
  const azz = mod(a.z * a.z)
  const bzz = mod(b.z * b.z)
  const u1 = mod(a.x * bzz)
  const s1 = mod(a.y * bzz * b.z)
  const h = mod(b.x * azz - u1)
  const r = mod(b.y * azz * a.z - s1)
  if (h === 0n) return r === 0n ? double(a) : infinity
  const hh = mod(h * h)
  const hhh = mod(h * hh)
  const v = mod(u1 * hh)
  const x = mod(r * r - hhh - 2n * v)
  return { x, y: mod(r * (v - x) - s1 * hhh), z: mod(a.z * b.z * h) }
}

function multiply(point: Point, factor: bigint): Point {
  let result = infinity
  for (const bit of factor.toString(2)) {
    result = double(result)
    if (bit === '1') result = add(result, point)
  }
  return result
}

function isEcdsaSignature(key: Uint8Array, signature: Uint8Array, digest: bigint): boolean {
  const [r = 0n, s = 0n] = readPair(signature) ?? []
  if (r <= 0n || r >= order || s <= 0n || s >= order || key[0] !== 4 || key.length !== 65) return false
  const point: Point = { x: toNumber(key.subarray(1, 33)), y: toNumber(key.subarray(33)), z: 1n }
  if (mod(point.y * point.y - (point.x ** 3n - 3n * point.x + coefficient)) !== 0n) return false
  const inverse = power(s, order - 2n, order)
  const sum = add(multiply(generator, (digest * inverse) % order), multiply(point, (r * inverse) % order))
  if (sum.z === 0n) return false
  const zInverse = power(sum.z, prime - 2n, prime)
  return mod(sum.x * zInverse * zInverse) % order === r
}
