import { newUnauthorized } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import { authenticateToken } from '../authentication/authentication.ts'
import { type Authentication, anonymous, withAuthenticatedGroup } from '../authentication/authenticator.ts'
import { findBearerToken } from '../authentication/bearer-token.ts'
import type { RequestContext, UserInfo } from '../request/context.ts'
import type { Answer, Filter, Next } from '../request/filter.ts'
import { withoutHeaders } from '../request/without-headers.ts'

/**
 * Finds out whose request it is: by what the connection proves, then by the bearer token. A credential that is no good
 * is passed over where another one is, and is a 401 where there is none; without any the request is anonymous. The
 * headers with credentials end here.
 */
export const authenticate: Filter = (context, next) => {
  const { state, request } = context
  const [first] = state.authentication.authenticators
  // Most connections prove at once who is at their end.
  const user = first?.(request, state)
  if (user && user !== 'invalid' && !(user instanceof Promise)) return goOn(context, next, user)
  return find(context, next, user)
}

/** `first` is what the first authenticator has said. */
async function find(
  context: RequestContext,
  next: Next,
  first: Authentication | Promise<Authentication>,
): Promise<WireResponse> {
  const { state, request } = context
  const { authenticators, isAnonymousAllowed, isCredential } = state.authentication
  // A certificate that cannot be trusted is no licence to be nobody.
  let isRefused = request.peerError !== undefined
  for (let i = 0; i < authenticators.length; i++) {
    const answer = i === 0 ? first : authenticators[i]!(request, state)
    const user = answer instanceof Promise ? await answer : answer
    if (user === 'invalid') isRefused = true
    else if (user) return await goOn(context, next, user)
  }
  const bearer = findBearerToken(request)
  if (bearer !== undefined) {
    const owner = await ownerOf(context, bearer)
    if (owner) return await goOn(context, next, owner)
    isRefused = true
  }
  context.request = withoutHeaders(request, isCredential)
  if (isRefused || !isAnonymousAllowed(request.path)) throw newUnauthorized('Unauthorized')
  context.user = anonymous
  return await next(context)
}

function goOn(context: RequestContext, next: Next, user: UserInfo): Answer {
  context.request = withoutHeaders(context.request, context.state.authentication.isCredential)
  context.user = withAuthenticatedGroup(user)
  return next(context)
}

async function ownerOf(context: RequestContext, token: string): Promise<UserInfo | undefined> {
  const { state, warnings, auditAnnotations: annotations } = context
  const { audiences } = state.authentication
  const answer = authenticateToken(state, token, { state, audiences, warnings, annotations })
  const owner = answer instanceof Promise ? await answer : answer
  if ('user' in owner) return owner.user
  // Errors name what is wrong with a token, never the token.
  state.env.log.debug('unable to authenticate the request', { error: owner.error })
  return undefined
}
