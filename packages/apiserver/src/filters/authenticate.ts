import { newUnauthorized } from '@coxswain/apimachinery'
import { authenticateToken } from '../authn/authentication.ts'
import { anonymous, withAuthenticatedGroup } from '../authn/authenticator.ts'
import { findBearerToken } from '../authn/bearer-token.ts'
import type { RequestContext, UserInfo } from '../request/context.ts'
import { withoutHeaders } from '../request/without-headers.ts'
import type { Filter } from './filter.ts'

/**
 * Finds out whose request it is: by what the connection proves, then by the bearer token. A credential that is no good
 * is passed over where another one is, and is a 401 where there is none; without any the request is anonymous. The
 * headers with credentials end here.
 */
export const authenticate: Filter = async (context, next) => {
  const { state, request } = context
  const { authenticators, isAnonymousAllowed, isCredential } = state.authentication
  // A certificate that cannot be trusted is no licence to be nobody.
  let isRefused = request.peerError !== undefined
  let found: UserInfo | undefined
  for (const ask of authenticators) {
    const answer = ask(request, state)
    const user = answer instanceof Promise ? await answer : answer
    if (user === 'invalid') isRefused = true
    else if (user) {
      found = user
      break
    }
  }
  if (!found) {
    const bearer = findBearerToken(request)
    if (bearer !== undefined) {
      found = await ownerOf(context, bearer)
      isRefused ||= !found
    }
  }
  context.request = withoutHeaders(request, isCredential)
  if (found) {
    context.user = withAuthenticatedGroup(found)
    return await next(context)
  }
  if (isRefused || !isAnonymousAllowed(request.path)) throw newUnauthorized('Unauthorized')
  context.user = anonymous
  return await next(context)
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
