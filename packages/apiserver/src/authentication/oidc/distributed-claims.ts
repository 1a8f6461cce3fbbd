import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import { BoundedMap } from '@coxswain/kit'
import { isSignedBy, type Jwt, parseJwt } from '../jwt/jwt.ts'
import type { Jwk, VerificationKey } from '../jwt/keys.ts'
import { type FetchOptions, fetchText } from './fetch-text.ts'
import { KeySet } from './key-set.ts'

export interface ClaimResolverOptions extends FetchOptions {
  /** The claim that may be distributed: groups, for a user in many of them. */
  readonly claim: string
  readonly importKey: (jwk: Jwk) => VerificationKey | undefined
  /** Checks the audience, times and algorithm of a token; returns the problem. */
  readonly check: (jwt: Jwt) => string | undefined
}

/** How many claim issuers are kept with their keys. */
const issuerLimit = 50

/**
 * Fetches a distributed claim of a verified token (OpenID Connect Core, 5.6.2): another token, which its own
 * issuer must have signed.
 */
export class ClaimResolver {
  readonly #options: ClaimResolverOptions
  readonly #keySets = new BoundedMap<string, KeySet>(issuerLimit)

  constructor(options: ClaimResolverOptions) {
    this.#options = options
  }

  /** Whether a claim has to be fetched. */
  isNeeded(claims: JsonObject): boolean {
    return claims[this.#options.claim] === undefined && claims._claim_names !== undefined
  }

  /** The claims with the fetched one. Rejects with an Error when it cannot be fetched. */
  async resolve(claims: JsonObject): Promise<JsonObject> {
    const { claim } = this.#options
    const { _claim_names: names, _claim_sources: sources } = claims
    const source = isObject(names) ? names[claim] : undefined
    if (typeof source !== 'string') return claims
    if (!isObject(sources)) throw new Error('oidc: no claim sources')
    const found = sources[source]
    if (!isObject(found))
      throw new Error(`id token _claim_names contained a source ${source} missing in _claims_sources`)
    const { endpoint, access_token: accessToken } = found
    if (typeof endpoint !== 'string' || endpoint === '') return claims
    const headers = typeof accessToken === 'string' ? { authorization: `Bearer ${accessToken}` } : {}
    const jwt = parseJwt((await fetchText(this.#options, endpoint, headers)).trim())
    if (!jwt) throw new Error(`${endpoint} did not answer with a token`)
    const problem = this.#options.check(jwt) ?? (await this.#verify(jwt))
    if (problem !== undefined) throw new Error(`verify distributed claim token: ${problem}`)
    if (jwt.claims[claim] === undefined)
      throw new Error(
        `jwt returned by distributed claim endpoint ${endpoint} did not contain claim: ${claim}`,
      )
    return { ...claims, [claim]: jwt.claims[claim] }
  }

  async #verify(jwt: Jwt): Promise<string | undefined> {
    const { iss } = jwt.claims
    if (typeof iss !== 'string') return 'the token has no issuer'
    let keySet = this.#keySets.get(iss)
    if (!keySet) {
      keySet = new KeySet({ ...this.#options, issuer: iss })
      this.#keySets.set(iss, keySet)
    }
    if (keySet.keys && isSignedBy(jwt, keySet.keys)) return undefined
    const failure = await keySet.refresh()
    if (!keySet.keys) return failure ?? 'failed to fetch the keys of the issuer'
    return isSignedBy(jwt, keySet.keys) ? undefined : 'failed to verify signature'
  }
}
