import { newUnauthorized } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import { authenticateToken, type ResolvedAuthentication } from '../authentication/authentication.ts'
import { type Authentication, anonymous, withAuthenticatedGroup } from '../authentication/authenticator.ts'
import { findBearerToken } from '../authentication/bearer-token.ts'
import type { RequestContext, UserInfo } from '../request/context.ts'
import type { Answer, Filter, Next } from '../request/filter.ts'
import { withoutHeaders } from '../request/without-headers.ts'

/**
 * Authenticates a request: by the connection, then by the bearer token. An invalid credential is ignored where another one
 * is valid, and is a 401 where none is; a request without credentials is anonymous. Headers with credentials are removed
 * here.
 */
export function createAuthenticate(authentication: ResolvedAuthentication): Filter {
  const { authenticators, isAnonymousAllowed, isCredential, audiences } = authentication
  const { clock } = authentication.server
  const [authenticateFirst] = authenticators

  /** `first` is the answer of the first authenticator. */
  async function find(
    context: RequestContext,
    next: Next,
    first: Authentication | Promise<Authentication>,
  ): Promise<WireResponse> {
    const { request } = context
    // A client with an untrusted certificate is not anonymous.
    let isRejected = request.peerError !== undefined
    for (let i = 0; i < authenticators.length; i++) {
      const answer = i === 0 ? first : authenticators[i]!(request, clock)
      const user = answer instanceof Promise ? await answer : answer
      if (user === 'invalid') isRejected = true
      else if (user) return await continueAs(context, next, user)
    }
    const bearer = findBearerToken(request)
    if (bearer !== undefined) {
      const owner = await ownerOf(context, bearer)
      if (owner) return await continueAs(context, next, owner)
      isRejected = true
    }
    context.request = withoutHeaders(request, isCredential)
    if (isRejected || !isAnonymousAllowed(request.path)) throw newUnauthorized('Unauthorized')
    context.user = anonymous
    return await next(context)
  }

  function continueAs(context: RequestContext, next: Next, user: UserInfo): Answer {
    context.request = withoutHeaders(context.request, isCredential)
    context.user = withAuthenticatedGroup(user)
    return next(context)
  }

  async function ownerOf(context: RequestContext, token: string): Promise<UserInfo | undefined> {
    const { env, warnings, auditAnnotations: annotations } = context
    const answer = authenticateToken(authentication, token, { audiences, warnings, annotations })
    const owner = answer instanceof Promise ? await answer : answer
    if ('user' in owner) return owner.user
    // Errors say what is wrong with a token and never contain it.
    env.log.debug('unable to authenticate the request', { error: owner.error })
    return undefined
  }

  return (context, next) => {
    // Most connections are authenticated synchronously, by their client certificate.
    const user = authenticateFirst?.(context.request, clock)
    if (user && user !== 'invalid' && !(user instanceof Promise)) return continueAs(context, next, user)
    return find(context, next, user)
  }
}
