import type { Clock } from '@coxswain/kit'
import type { UserInfo } from '@coxswain/strategies'
import type { PeerCertificate, WireRequest } from '@coxswain/wire'
import type { BoundObjects } from './service-account/bound-objects.ts'

/** The user of a request, `invalid` for a bad credential, undefined without a credential that the authenticator knows. */
export type Authentication = UserInfo | 'invalid' | undefined

/** Authenticates a request; synchronously where possible, since every request waits for it. */
export type Authenticator = (request: WireRequest, clock: Clock) => Authentication | Promise<Authentication>

/** Records that a legacy token was used: labels its Secret with `date` (YYYY-MM-DD). Failures are logged, not thrown. */
export type MarkTokenUsed = (
  secret: { readonly namespace: string; readonly name: string },
  date: string,
) => Promise<void>

/** What token authenticators may use of the server. */
export interface TokenPorts {
  readonly clock: Clock
  /** The server's own audiences. */
  readonly audiences: readonly string[]
  /** The objects that tokens are bound to. */
  readonly objects: BoundObjects
  readonly markTokenUsed: MarkTokenUsed
}

/** A token to authenticate: the audiences it is checked against, and where to report what is noteworthy. */
export interface TokenQuestion {
  readonly server: TokenPorts
  /** Audiences that the token must be issued for, one of them at least: the server's own, or those of a review. */
  readonly audiences: readonly string[]
  /** Collects warnings for the client, and annotations for the audit log. */
  readonly warnings?: { push(text: string): void }
  readonly annotations?: Map<string, string>
}

/** The token's user, and those of the requested audiences that the token is for. */
export interface TokenOwner {
  readonly user: UserInfo
  readonly audiences: readonly string[]
}

/** The user, why the token is invalid, or undefined for a token of another kind. */
export type TokenAnswer = TokenOwner | { readonly error: string } | undefined

/** Authenticates a bearer token. What it returns, throws or logs never contains the token. */
export type TokenAuthenticator = (
  token: string,
  question: TokenQuestion,
) => TokenAnswer | Promise<TokenAnswer>

export const allAuthenticated = 'system:authenticated'
export const allUnauthenticated = 'system:unauthenticated'

/** The key of a user's extra that identifies the credential. */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id'

/** The user of requests without credentials. */
export const anonymous: UserInfo = { name: 'system:anonymous', groups: [allUnauthenticated] }

/** The user of the client certificate: CN is the name, O are the groups. */
export const authenticateCertificate: Authenticator = ({ peer }, clock) => {
  if (!peer || peer.commonName === '') return undefined
  // A connection may outlive its certificate.
  if (clock.now() > peer.notAfter) return 'invalid'
  let owner = owners.get(peer)
  if (!owner) {
    owner = readOwner(peer)
    owners.set(peer, owner)
  }
  return owner
}

/** All requests of a connection share its certificate, and so one user object. */
const owners = new WeakMap<PeerCertificate, UserInfo>()

function readOwner({ commonName, organizations, uid }: PeerCertificate): UserInfo {
  return withAuthenticatedGroup({
    name: commonName,
    groups: [...organizations],
    ...(uid !== undefined && { uid }),
  })
}

/** Every authenticated user is in the group `system:authenticated`. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const { name, groups } = user
  if (name === anonymous.name || groups.includes(allAuthenticated) || groups.includes(allUnauthenticated)) {
    return user
  }
  return { ...user, groups: [...groups, allAuthenticated] }
}

/** A fixed set of bearer tokens. */
export function createTokenAuthenticator(users: ReadonlyMap<string, UserInfo>): TokenAuthenticator {
  return forOwnAudiences(token => {
    const user = users.get(token)
    return user && { user }
  })
}

/** Tokens without audiences are valid for the server itself only. */
export function forOwnAudiences(
  find: (token: string, question: TokenQuestion) => ForOwn | Promise<ForOwn>,
): TokenAuthenticator {
  return (token, question) => {
    const own = question.server.audiences
    const audiences = intersect(question.audiences, own)
    if (audiences.length === 0 && own.length > 0) return undefined
    const complete = (answer: ForOwn): TokenAnswer =>
      answer && 'user' in answer ? { user: answer.user, audiences } : answer
    const answer = find(token, question)
    return answer instanceof Promise ? answer.then(complete) : complete(answer)
  }
}

type ForOwn = { readonly user: UserInfo } | { readonly error: string } | undefined

/** The elements of `some` that are in `others`, in their order. */
export function intersect(some: readonly string[], others: readonly string[]): string[] {
  return some.filter(item => others.includes(item))
}
