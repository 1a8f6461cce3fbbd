/**
 * Keys as the API server sees them: functions, synchronous so that no request waits for a thread pool and a simulated
 * cluster stays repeatable. `@coxswain/apiserver/node` makes them with node:crypto.
 *
 * @module
 */

/** The algorithms of RFC 7518 that are taken; never `none`, never one with a shared secret. */
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

/** A public key, as RFC 7517 prints it. */
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

export interface VerificationKey {
  /** Empty for a provider's key without an id. */
  readonly keyId: string
  /** What signatures by this key are made with. */
  readonly algorithms: readonly SignatureAlgorithm[]
  readonly jwk: Jwk
  /** Never throws: what cannot be checked is no signature. */
  verify(algorithm: SignatureAlgorithm, input: Uint8Array, signature: Uint8Array): boolean
}

export interface SigningKey {
  readonly keyId: string
  readonly algorithm: SignatureAlgorithm
  sign(input: Uint8Array): Uint8Array
}
