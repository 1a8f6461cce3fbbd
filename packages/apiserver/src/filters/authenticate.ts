import { newUnauthorized } from '@coxswain/apimachinery'
import { type Authenticator, anonymous } from '../authn/authenticator.ts'
import type { Filter } from './filter.ts'

/** The first authenticator that knows the request decides; without any it is anonymous. */
export function createAuthenticate(authenticators: readonly Authenticator[]): Filter {
  return (context, next) => {
    for (const authenticate of authenticators) {
      const user = authenticate(context.request)
      if (user === 'invalid') throw newUnauthorized('Unauthorized')
      if (user) {
        context.user = user
        return next(context)
      }
    }
    // A certificate that cannot be trusted is no licence to be nobody.
    if (context.request.peerError !== undefined) throw newUnauthorized('Unauthorized')
    context.user = anonymous
    return next(context)
  }
}
