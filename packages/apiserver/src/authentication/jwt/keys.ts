/**
 * Keys as functions, synchronous so that no request waits for a thread pool and a simulated cluster stays
 * reproducible. `@coxswain/apiserver/node` creates them with node:crypto.
 *
 * @module
 */

/** The supported algorithms of RFC 7518; never `none`, never one with a shared secret. */
export type SignatureAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'

/** A public key in the form of RFC 7517. */
export interface Jwk {
  readonly use?: string
  readonly kty: string
  readonly kid?: string
  readonly crv?: string
  readonly alg?: string
  readonly n?: string
  readonly e?: string
  readonly x?: string
  readonly y?: string
}

/** A public key that verifies signatures of tokens. */
export interface VerificationKey {
  /** Empty for a provider's key without an id. */
  readonly keyId: string
  /** The algorithms of signatures by this key. */
  readonly algorithms: readonly SignatureAlgorithm[]
  readonly jwk: Jwk
  /** Never throws: a signature that cannot be checked is invalid. */
  verify(algorithm: SignatureAlgorithm, input: Uint8Array, signature: Uint8Array): boolean
}

/** A private key that signs tokens. */
export interface SigningKey {
  readonly keyId: string
  readonly algorithm: SignatureAlgorithm
  sign(input: Uint8Array): Uint8Array
}
