import type { WireResponse } from '@coxswain/wire'
import { anonymous } from '../authentication/authenticator.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'

/**
 * Closes an HTTP/2 connection after the first request of an unauthenticated client: such a connection costs the server more
 * than it costs the client (CVE-2023-44487). Stands outside the filter that answers errors, so that it sees rejected
 * requests too.
 */
export const limitUnauthenticated: Filter = (context, next) => {
  const answer = next(context)
  if (context.request.headers[':method'] === undefined) return answer
  return answer instanceof Promise
    ? answer.then(response => closeUnauthenticated(context, response))
    : closeUnauthenticated(context, answer)
}

function closeUnauthenticated({ user, impersonation }: RequestContext, response: WireResponse): WireResponse {
  const isUnauthenticated = user.name === anonymous.name && !impersonation
  return isUnauthenticated ? { ...response, headers: { ...response.headers, connection: 'close' } } : response
}
