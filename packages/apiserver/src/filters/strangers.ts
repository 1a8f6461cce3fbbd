import type { WireResponse } from '@coxswain/wire'
import { anonymous } from '../authentication/authenticator.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'

/**
 * An HTTP/2 connection costs the server more than it costs its client. Whoever has not said who they are gets one
 * request out of it (CVE-2023-44487). Outside of whatever makes answers of errors: refused strangers are strangers too.
 */
export const limitStrangers: Filter = (context, next) => {
  const answer = next(context)
  if (context.request.headers[':method'] === undefined) return answer
  return answer instanceof Promise
    ? answer.then(response => limitStranger(context, response))
    : limitStranger(context, answer)
}

function limitStranger({ user, impersonation }: RequestContext, response: WireResponse): WireResponse {
  const isStranger = user.name === anonymous.name && !impersonation
  return isStranger ? { ...response, headers: { ...response.headers, connection: 'close' } } : response
}
