import { TokenReview } from '@coxswain/api/authentication/v1'
import { SubjectAccessReview } from '@coxswain/api/authorization/v1'
import {
  type Access,
  type AuthenticationOptions,
  type Authorizer,
  type AuthorizerFactory,
  allow,
  authorizePrivileged,
  type Decision,
  noOpinion,
  type TokenAnswer,
  type TokenAuthenticator,
  unionAuthorizer,
} from '@coxswain/apiserver'
import {
  createProxyAuthenticators,
  proxyHeadersOf,
  type RequestHeaderOptions,
} from '@coxswain/apiserver/authentication'
import type { Client } from '@coxswain/client'
import { BoundedMap, type Clock, encodeHex, encodeText, sha256 } from '@coxswain/kit'

/** Authentication and authorization by another cluster. */
export interface Delegation {
  readonly authentication: AuthenticationOptions
  readonly authorizer: AuthorizerFactory
}

/** Options of {@link delegateTo}. */
export interface DelegationOptions {
  readonly clock: Clock
  /** A client of the cluster; its user needs the ClusterRole `system:auth-delegator`. */
  readonly client: Pick<Client, 'create'>
  /** How front proxies of the cluster are recognized, as `readRequestHeaders` of `@coxswain/server/node` finds it. @default they are not */
  readonly requestHeader?: RequestHeaderOptions
}

/** How long an answer counts, in milliseconds, and how many are kept: kube-apiserver's values for extension servers. */
const lifetime = 10_000
const keptAnswers = 4096

/** Paths that every client may get, as on every extension API server. */
const openPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz'])

/** Leaves it to a cluster who a request is from, and what they may do: TokenReviews, SubjectAccessReviews, front proxies. */
export function delegateTo({ client, clock, requestHeader }: DelegationOptions): Delegation {
  return {
    authentication: {
      tokens: [createTokenReviewer(client, clock)],
      ...(requestHeader && {
        authenticators: createProxyAuthenticators(requestHeader),
        proxyHeaders: proxyHeadersOf(requestHeader),
      }),
    },
    authorizer: unionAuthorizer([
      () => authorizePrivileged,
      () => authorizeHealth,
      () => createAccessReviewer(client, clock),
    ]),
  }
}

const authorizeHealth: Authorizer = ({ info }) =>
  !info.isResource && info.verb === 'get' && openPaths.has(info.path) ? allow : noOpinion

interface Kept<T> {
  readonly answer: T
  readonly until: number
}

/** A token is never a key: its digest is. */
function createTokenReviewer(client: Pick<Client, 'create'>, clock: Clock): TokenAuthenticator {
  const kept = new BoundedMap<string, Kept<TokenAnswer>>(keptAnswers)
  return async (token, { audiences }) => {
    const key = `${encodeHex(sha256(encodeText(token)))} ${audiences.join(' ')}`
    const known = kept.get(key)
    if (known && known.until > clock.now()) return known.answer
    const spec = { token, ...(audiences.length > 0 && { audiences: [...audiences] }) }
    const { status } = await client.create(TokenReview, { spec })
    const { username = '', uid, groups = [], extra } = status?.user ?? {}
    const answer: TokenAnswer = status?.authenticated
      ? {
          user: { name: username, groups, ...(uid && { uid }), ...(extra && { extra }) },
          audiences: status.audiences ?? audiences,
        }
      : status?.error
        ? { error: status.error }
        : undefined
    kept.set(key, { answer, until: clock.now() + lifetime })
    return answer
  }
}

function createAccessReviewer(client: Pick<Client, 'create'>, clock: Clock): Authorizer {
  const kept = new BoundedMap<string, Kept<Decision>>(keptAnswers)
  return async access => {
    const spec = specOf(access)
    const key = JSON.stringify(spec)
    const known = kept.get(key)
    if (known && known.until > clock.now()) return known.answer
    const { status } = await client.create(SubjectAccessReview, { spec })
    const answer: Decision = {
      verdict: status?.allowed ? 'allow' : status?.denied ? 'deny' : 'no opinion',
      ...(status?.reason && { reason: status.reason }),
      ...(status?.evaluationError && { error: status.evaluationError }),
    }
    kept.set(key, { answer, until: clock.now() + lifetime })
    return answer
  }
}

function specOf({ user, info }: Access) {
  const { name, uid, groups, extra } = user
  const copied = extra && Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
  const of = {
    user: name,
    groups: [...groups],
    ...(uid !== undefined && { uid }),
    ...(copied && { extra: copied }),
  }
  if (!info.isResource) return { ...of, nonResourceAttributes: { path: info.path, verb: info.verb } }
  const { verb, group, version, resource, subresource, namespace, name: object } = info
  return {
    ...of,
    resourceAttributes: { verb, group, version, resource, subresource, namespace, name: object },
  }
}
