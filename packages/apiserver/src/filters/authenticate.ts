import { newUnauthorized } from '@coxswain/apimachinery'
import { type Authenticator, anonymous } from '../authn/authenticator.ts'
import type { Filter } from './filter.ts'

/** The first authenticator that knows the request decides; without any it is anonymous. */
export function createAuthenticate(authenticators: readonly Authenticator[]): Filter {
  return async (context, next) => {
    for (const authenticate of authenticators) {
      const answer = authenticate(context.request, context.state)
      const user = answer instanceof Promise ? await answer : answer
      if (user === 'invalid') throw newUnauthorized('Unauthorized')
      if (user) {
        context.user = user
        return await next(context)
      }
    }
    // A certificate that cannot be trusted is no licence to be nobody.
    if (context.request.peerError !== undefined) throw newUnauthorized('Unauthorized')
    context.user = anonymous
    return await next(context)
  }
}
