import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Jwk, VerificationKey } from '../jwt/keys.ts'
import { type FetchOptions, fetchText } from './fetch-text.ts'

export interface KeySetOptions extends FetchOptions {
  /** As in the claim `iss`. */
  readonly issuer: string
  /** The discovery URL, when it is not below the issuer. */
  readonly discoveryUrl?: string
  readonly importKey: (jwk: Jwk) => VerificationKey | undefined
}

/** The minimum time between two fetches of the keys. */
const pause = 1000
/** How long an unreachable provider is not retried. */
const failurePause = 10_000

/** The keys of an identity provider: fetched when first needed, and again when a token names an unknown one. */
export class KeySet {
  readonly #options: KeySetOptions
  #jwksUri: string | undefined
  #keys: readonly VerificationKey[] | undefined
  #fetching: Promise<string | undefined> | undefined
  #nextFetch = 0
  #failure = ''

  constructor(options: KeySetOptions) {
    this.#options = options
  }

  /** The keys known now; undefined before the first successful fetch. */
  get keys(): readonly VerificationKey[] | undefined {
    return this.#keys
  }

  /** Fetches the keys, unless they were just fetched. Resolves with the error, if any. */
  async refresh(): Promise<string | undefined> {
    const { clock } = this.#options.env
    if (!this.#fetching) {
      if (clock.now() < this.#nextFetch) return this.#keys ? undefined : this.#failure
      this.#fetching = this.#fetch().finally(() => {
        this.#fetching = undefined
      })
    }
    return await this.#fetching
  }

  async #fetch(): Promise<string | undefined> {
    const { env, importKey } = this.#options
    try {
      this.#jwksUri ??= await this.#discover()
      const { keys } = await this.#get(this.#jwksUri)
      if (!Array.isArray(keys)) throw new Error('the key set has no keys')
      this.#keys = keys.filter(isObject).flatMap(jwk => importKey(jwk as unknown as Jwk) ?? [])
      this.#nextFetch = env.clock.now() + pause
      return undefined
    } catch (error) {
      this.#failure = `oidc: authenticator not initialized: ${(error as Error).message}`
      this.#nextFetch = env.clock.now() + (this.#keys ? pause : failurePause)
      env.log.error('oidc authenticator: failed to fetch the keys of the issuer', {
        issuer: this.#options.issuer,
        error,
      })
      return this.#failure
    }
  }

  async #discover(): Promise<string> {
    const { issuer, discoveryUrl } = this.#options
    const document = await this.#get(
      discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    )
    if (document.issuer !== issuer)
      throw new Error(`the provider reports another issuer: ${JSON.stringify(document.issuer)}`)
    if (typeof document.jwks_uri !== 'string') throw new Error('provider did not return JWKS URL')
    return document.jwks_uri
  }

  async #get(address: string): Promise<JsonObject> {
    const value: unknown = JSON.parse(await fetchText(this.#options, address))
    if (!isObject(value)) throw new Error(`${address} did not answer with an object`)
    return value
  }
}
