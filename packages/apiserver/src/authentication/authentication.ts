import type { Clock } from '@coxswain/kit'
import type { WatchCache } from '../cache/watch-cache.ts'
import {
  type Authenticator,
  authenticateCertificate,
  type MarkTokenUsed,
  type TokenAuthenticator,
  type TokenOwner,
  type TokenPorts,
  type TokenQuestion,
} from './authenticator.ts'
import { longestToken } from './bearer-token.ts'
import { createServiceAccountAuthenticators } from './service-account/authenticator.ts'
import { BoundObjects } from './service-account/bound-objects.ts'
import {
  createServiceAccounts,
  type ServiceAccountOptions,
  type ServiceAccounts,
} from './service-account/issuer.ts'
import { authenticateInOrder } from './union.ts'

/** What aggregated API servers need to authenticate requests: PEM of CAs, and JSON lists of header names. */
export type AuthenticationTrust = Readonly<Record<string, string>>

/** How requests are authenticated. */
export interface AuthenticationOptions {
  /** Tried in order before the bearer token. @default client certificates */
  readonly authenticators?: readonly Authenticator[]
  /** Tried in order for a bearer token, before service account tokens. @default none */
  readonly knownTokens?: readonly TokenAuthenticator[]
  /** Tried in order for a bearer token, after service account tokens. @default none */
  readonly tokens?: readonly TokenAuthenticator[]
  /** Audiences that tokens must be issued for, one of them at least. @default the issuers of service account tokens */
  readonly audiences?: readonly string[]
  /** Whether requests without credentials are served as `system:anonymous`, and on which paths. @default on all paths */
  readonly anonymous?: boolean | { readonly paths: readonly string[] }
  /** Headers that only a front proxy may send, in lower case, in addition to X-Remote-*; a trailing `*` matches any suffix. @default none */
  readonly proxyHeaders?: readonly string[]
  /** The keys of service account tokens. @default none: no such token is issued or accepted */
  readonly serviceAccounts?: ServiceAccountOptions
  /** The CAs and header names that are published for aggregated API servers. @default nothing */
  readonly trust?: AuthenticationTrust
}

/** What authentication uses of the server. */
export interface AuthenticationPorts {
  readonly clock: Clock
  readonly cache: WatchCache
  readonly markTokenUsed: MarkTokenUsed
}

/** {@link AuthenticationOptions} with every default filled in. */
export interface ResolvedAuthentication {
  /** Passed to token authenticators. */
  readonly server: TokenPorts
  readonly authenticators: readonly Authenticator[]
  readonly tokens: readonly TokenAuthenticator[]
  readonly audiences: readonly string[]
  readonly isAnonymousAllowed: (path: string) => boolean
  /** Whether a header carries a credential, which later filters must not see. */
  readonly isCredential: (header: string) => boolean
  readonly serviceAccounts: ServiceAccounts | undefined
}

const standardProxyHeaders = ['x-remote-user', 'x-remote-uid', 'x-remote-group', 'x-remote-extra-*']

export function resolveAuthentication(
  options: AuthenticationOptions,
  { clock, cache, markTokenUsed }: AuthenticationPorts,
): ResolvedAuthentication {
  const { anonymous = true, authenticators = [authenticateCertificate] } = options
  const serviceAccounts = options.serviceAccounts && createServiceAccounts(options.serviceAccounts)
  const hidden = [...new Set([...standardProxyHeaders, ...(options.proxyHeaders ?? [])])]
  const names = new Set(['authorization', ...hidden.filter(name => !name.endsWith('*'))])
  const prefixes = hidden.filter(name => name.endsWith('*')).map(name => name.slice(0, -1))
  // Called for every header of every request: the first letter rules out most.
  const firsts = new Set([...names, ...prefixes].map(name => name.charCodeAt(0)))
  const hidesAll = prefixes.includes('')
  const audiences = options.audiences ?? serviceAccounts?.issuers ?? []
  return {
    server: { clock, audiences, objects: new BoundObjects(cache), markTokenUsed },
    authenticators,
    tokens: [
      ...(options.knownTokens ?? []),
      ...(serviceAccounts ? createServiceAccountAuthenticators(serviceAccounts) : []),
      ...(options.tokens ?? []),
    ],
    audiences,
    isAnonymousAllowed:
      typeof anonymous === 'boolean' ? () => anonymous : path => anonymous.paths.includes(path),
    isCredential: header =>
      (hidesAll || firsts.has(header.charCodeAt(0))) &&
      (names.has(header) || prefixes.some(prefix => header.startsWith(prefix))),
    serviceAccounts,
  }
}

const unknownToken = 'invalid bearer token'

type Verdict = TokenOwner | { readonly error: string }

/** The token's user; otherwise the errors of all authenticators. */
export function authenticateToken(
  { server, tokens }: Pick<ResolvedAuthentication, 'server' | 'tokens'>,
  token: string,
  question: Omit<TokenQuestion, 'server'>,
): Verdict | Promise<Verdict> {
  const complete = (answer: TokenOwner | readonly string[]): Verdict => {
    if ('user' in answer) return answer
    return { error: answer.length === 0 ? unknownToken : `[${[unknownToken, ...answer].join(', ')}]` }
  }
  if (token.length > longestToken) return { error: unknownToken }
  const answer = authenticateInOrder(tokens, token, { ...question, server })
  return answer instanceof Promise ? answer.then(complete) : complete(answer)
}
