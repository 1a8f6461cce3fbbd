import type { JsonObject } from '@coxswain/apimachinery/json'
import type { Env } from '@coxswain/kit'
import type { Outbound } from '../../outbound/outbound.ts'
import { forOwnAudiences, intersect, type TokenAuthenticator } from '../authenticator.ts'
import { isSignedBy, type Jwt, parseJwtOnce, readAudience } from '../jwt/jwt.ts'
import type { Jwk, SignatureAlgorithm, VerificationKey } from '../jwt/keys.ts'
import type { JwtAuthenticator } from './configuration.ts'
import { ClaimResolver } from './distributed-claims.ts'
import { KeySet } from './key-set.ts'
import { compileMapper } from './mapper.ts'

/** What an OpenID authenticator needs besides its configuration. */
export interface OidcOptions {
  readonly env: Env
  readonly outbound: Outbound
  readonly authenticator: JwtAuthenticator
  readonly importKey: (jwk: Jwk) => VerificationKey | undefined
  /** Accepted signing algorithms. @default all supported ones */
  readonly algorithms?: readonly SignatureAlgorithm[]
  /** The server's own issuers, which no provider may use. */
  readonly disallowedIssuers?: readonly string[]
}

/** The members of AuthenticationConfiguration that are used. */
export const signatureAlgorithms: readonly SignatureAlgorithm[] = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
]
/** How far the provider's clock may be ahead, as upstream. */
const leeway = 300_000

/** Authenticates tokens of an OpenID provider. Throws an Error when its configuration is invalid. */
export function createOidcAuthenticator(options: OidcOptions): TokenAuthenticator {
  const { env, outbound, authenticator, importKey, algorithms = signatureAlgorithms } = options
  const { url, discoveryURL, certificateAuthority, audiences } = authenticator.issuer
  const map = compileMapper(authenticator, { disallowedIssuers: options.disallowedIssuers ?? [] })
  const keySet = new KeySet({
    env,
    outbound,
    issuer: url,
    importKey,
    ...(discoveryURL && { discoveryUrl: discoveryURL }),
    ...(certificateAuthority && { ca: certificateAuthority }),
  })

  const check = (jwt: Jwt): string | undefined => {
    const problem = checkClaims(jwt, audiences, env.clock.now())
    if (problem !== undefined || algorithms.includes(jwt.algorithm as SignatureAlgorithm)) return problem
    return 'the token is signed with an algorithm that is not allowed'
  }
  const groupsClaim = authenticator.claimMappings.groups?.claim
  const ca = certificateAuthority && { ca: certificateAuthority }
  const resolver = groupsClaim
    ? new ClaimResolver({ env, outbound, claim: groupsClaim, importKey, check, ...ca })
    : undefined

  /** What is wrong with the signature, after checking the provider's keys. */
  async function verifyLate(jwt: Jwt): Promise<string | undefined> {
    const failure = await keySet.refresh()
    if (!keySet.keys) return failure ?? 'oidc: authenticator not initialized'
    return isSignedBy(jwt, keySet.keys) ? undefined : 'oidc: verify token: failed to verify signature'
  }

  const finish = (claims: JsonObject) => {
    const user = map(claims)
    return typeof user === 'string' ? { error: user } : { user }
  }

  async function finishLate(jwt: Jwt, isVerified: boolean) {
    const problem = isVerified ? undefined : await verifyLate(jwt)
    if (problem !== undefined) return { error: problem }
    if (!resolver?.isNeeded(jwt.claims)) return finish(jwt.claims)
    try {
      return finish(await resolver.resolve(jwt.claims))
    } catch (error) {
      return { error: `oidc: could not expand distributed claims: ${(error as Error).message}` }
    }
  }

  return forOwnAudiences((token, question) => {
    const jwt = parseJwtOnce(token, question)
    if (!jwt || issuerOf(jwt) !== url) return undefined
    const problem = check(jwt)
    if (problem !== undefined) return { error: `oidc: verify token: ${problem}` }
    const isVerified = keySet.keys !== undefined && isSignedBy(jwt, keySet.keys)
    const isComplete = !resolver?.isNeeded(jwt.claims)
    return isVerified && isComplete ? finish(jwt.claims) : finishLate(jwt, isVerified)
  })
}

/** Google's tokens use two forms of their issuer. */
function issuerOf({ claims }: Jwt): unknown {
  return claims.iss === 'accounts.google.com' ? 'https://accounts.google.com' : claims.iss
}

function checkClaims({ claims }: Jwt, audiences: readonly string[], now: number): string | undefined {
  const meant = readAudience(claims.aud)
  if (!meant || intersect(audiences, meant).length === 0)
    return 'oidc: the token is meant for a different audience'
  if (!(typeof claims.exp === 'number' && claims.exp * 1000 > now)) return 'oidc: token is expired'
  if (claims.nbf !== undefined && !(Number(claims.nbf) * 1000 <= now + leeway))
    return 'oidc: the token is not valid yet'
  return undefined
}
