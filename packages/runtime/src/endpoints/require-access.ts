import type { Client } from '@coxswain/client'
import { BoundedMap, type Clock, type Env } from '@coxswain/kit'
import type { Handler, WireRequest } from '@coxswain/wire'
import { subjectAccessReviewKind, tokenReviewKind, type UserInfo } from '../internal/kinds.ts'
import { plainText } from './plain-text.ts'

/** Options of {@link requireAccess}. */
export interface AccessOptions {
  /** May create TokenReviews and SubjectAccessReviews. */
  readonly client: Client
  readonly env: Env
}

/** How long answers of the API server are cached, as in controller-runtime. */
const tokenTtl = 60_000
const allowTtl = 5 * 60_000
const denyTtl = 30_000
const reviewTimeout = 10_000
/** The most cached answers. */
const mostAnswers = 1_000
/** Longer strings are not tokens of a cluster, and are rejected without a review. */
const longestToken = 16_384
/** The most concurrent reviews; further requests are rejected. */
const mostReviews = 32

/**
 * Admits requests whose bearer token the API server authenticates, and whose user it authorizes to `get` (or whatever the method is) the
 * path: TokenReview and SubjectAccessReview, as controller-runtime's `WithAuthenticationAndAuthorization` does.
 */
export function requireAccess(handler: Handler, { client, env }: AccessOptions): Handler {
  const { clock, log } = env
  const tokens = new Answers<UserInfo | 'unknown'>(clock, () => tokenTtl)
  const rights = new Answers<boolean>(clock, allowed => (allowed ? allowTtl : denyTtl))
  const call = { timeout: reviewTimeout }
  const identify = async (token: string): Promise<UserInfo | 'unknown'> => {
    const { status } = await client.create(tokenReviewKind, { metadata: {}, spec: { token } }, call)
    return status?.authenticated && status.user ? status.user : 'unknown'
  }
  const authorize = async (user: UserInfo, verb: string, path: string): Promise<boolean> => {
    const { username = '', ...rest } = user
    const spec = { ...rest, user: username, nonResourceAttributes: { verb, path } }
    const { status } = await client.create(subjectAccessReviewKind, { metadata: {}, spec }, call)
    return status?.allowed === true
  }
  return async request => {
    const token = bearerTokenOf(request)
    if (token === undefined) return plainText(401, 'Unauthorized\n')
    if (token.length > longestToken) return plainText(500, 'Authentication failed\n')
    if (tokens.waiting + rights.waiting >= mostReviews) return plainText(503, 'Too many reviews\n')
    let user: UserInfo | 'unknown'
    try {
      user = await tokens.get(token, () => identify(token))
    } catch (error) {
      log.error('Authentication failed', { error })
      return plainText(500, 'Authentication failed\n')
    }
    // To controller-runtime's authenticator an invalid token is an error, not a missing one.
    if (user === 'unknown') return plainText(500, 'Authentication failed\n')
    const known = user
    const { username = '' } = known
    const verb = request.method.toLowerCase()
    let isAllowed: boolean
    try {
      const key = JSON.stringify([known, verb, request.path])
      isAllowed = await rights.get(key, () => authorize(known, verb, request.path))
    } catch (error) {
      log.error('Authorization failed', { error, user: username })
      return plainText(500, `Authorization for user ${username} failed\n`)
    }
    if (!isAllowed) return plainText(403, `Authorization denied for user ${username}\n`)
    return await handler(request)
  }
}

function bearerTokenOf({ headers }: WireRequest): string | undefined {
  const { authorization } = headers
  const [scheme, token, ...more] = typeof authorization === 'string' ? authorization.trim().split(' ') : []
  return scheme?.toLowerCase() === 'bearer' && token && more.length === 0 ? token : undefined
}

/** A cache of answers with a TTL; concurrent lookups of one key are shared, and failures are not cached. */
class Answers<T extends NonNullable<unknown>> {
  readonly #clock: Clock
  readonly #ttl: (answer: T) => number
  readonly #known = new BoundedMap<string, { readonly answer: T; readonly until: number }>(mostAnswers)
  readonly #asked = new Map<string, Promise<T>>()

  constructor(clock: Clock, ttl: (answer: T) => number) {
    this.#clock = clock
    this.#ttl = ttl
  }

  /** The number of lookups in progress. */
  get waiting(): number {
    return this.#asked.size
  }

  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key)
    if (known && this.#clock.monotonic() < known.until) return known.answer
    let asked = this.#asked.get(key)
    if (!asked) {
      asked = ask().finally(() => this.#asked.delete(key))
      this.#asked.set(key, asked)
    }
    const answer = await asked
    this.#known.set(key, { answer, until: this.#clock.monotonic() + this.#ttl(answer) })
    return answer
  }
}
