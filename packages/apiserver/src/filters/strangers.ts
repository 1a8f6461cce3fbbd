import { anonymous } from '../authn/authenticator.ts'
import type { Filter } from './filter.ts'

/**
 * An HTTP/2 connection costs the server more than it costs its client. Whoever has not said who they are gets one
 * request out of it (CVE-2023-44487). Outside of whatever makes answers of errors: refused strangers are strangers too.
 */
export const limitStrangers: Filter = async (context, next) => {
  const response = await next(context)
  if (context.request.headers[':method'] === undefined) return response
  const isStranger = context.user.name === anonymous.name && !context.impersonation
  return isStranger ? { ...response, headers: { ...response.headers, connection: 'close' } } : response
}
