import type { JsonObject } from '@coxswain/apimachinery/json'
import { encodeText } from '@coxswain/kit'
import type { Jwk, SigningKey, VerificationKey } from '../jwt/keys.ts'

/** How service account tokens are issued and verified. */
export interface ServiceAccountOptions {
  /** Signs new tokens. */
  readonly signingKey: SigningKey
  /** Accepted keys, the public half of the signing key among them. */
  readonly verificationKeys: readonly VerificationKey[]
  /** The `iss` claim: new tokens have the first, any is accepted. @default https://kubernetes.default.svc */
  readonly issuers?: readonly string[]
  /** In seconds; longer expirations are shortened. @default no limit */
  readonly maxExpiration?: number
  /** Whether Pod tokens last a year, and are only reported as stale after the hour that was requested. @default true */
  readonly extendExpiration?: boolean
  /** The published URL of the keys. @default /openid/v1/jwks of the advertised address */
  readonly jwksUri?: string | (() => Promise<string>)
}

/** The issuer of service account tokens. */
export interface ServiceAccounts {
  readonly signingKey: SigningKey
  readonly verificationKeys: readonly VerificationKey[]
  readonly issuers: readonly string[]
  readonly maxExpiration: number | undefined
  readonly extendExpiration: boolean
  readonly jwksUri: ServiceAccountOptions['jwksUri']
}

export const defaultIssuer = 'https://kubernetes.default.svc'

export function createServiceAccounts(options: ServiceAccountOptions): ServiceAccounts {
  const { signingKey, verificationKeys, maxExpiration, extendExpiration = true, jwksUri } = options
  const issuers = options.issuers?.length ? options.issuers : [defaultIssuer]
  return { signingKey, verificationKeys, issuers, maxExpiration, extendExpiration, jwksUri }
}

/** `/.well-known/openid-configuration`: where relying parties start. */
export function describeIssuer(accounts: ServiceAccounts, jwksUri: string): Uint8Array {
  const issuer = accounts.issuers[0]!
  const algorithms = new Set(accounts.verificationKeys.map(key => key.jwk.alg ?? ''))
  return encodeText(
    JSON.stringify({
      issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...algorithms].sort(),
    }),
  )
}

/** `/openid/v1/jwks`: the public keys. */
export function describeKeys(accounts: ServiceAccounts): Uint8Array {
  return encodeText(JSON.stringify({ keys: accounts.verificationKeys.map(key => orderJwk(key.jwk)) }))
}

/** Members in upstream's order. */
function orderJwk({ use, kty, kid, crv, alg, n, e, x, y }: Jwk): JsonObject {
  return { use, kty, kid, crv, alg, x, y, n, e }
}
