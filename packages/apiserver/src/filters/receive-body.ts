import { newTooManyRequests } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import type { Filter, Next } from '../request/filter.ts'
import { withBody } from '../request/with-body.ts'

/** Milliseconds that a request keeps its seat while its body is on its way. */
const patience = 100
const retryAfterSeconds = 1

/** Handlers of other methods have no use for a body. */
const methods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Reads the body of a request that has passed everything which decides on headers alone: what is refused before costs no
 * memory. Bytes are counted per user, so that no user can take all the memory for bodies.
 */
export const receiveBody: Filter = (context, next) => {
  const { receiveBody: receive, method } = context.request
  if (!receive || !context.info.isResource || !methods.has(method)) return next(context)
  return receiveAndGoOn(context, receive, next)
}

async function receiveAndGoOn(
  context: RequestContext,
  receive: NonNullable<RequestContext['request']['receiveBody']>,
  next: Next,
): Promise<WireResponse> {
  const { request, seat, env, user } = context
  // A client that sends slowly would keep others waiting who are done.
  const timer = seat && env.clock.after(patience, seat.leave)
  let body: Awaited<ReturnType<typeof receive>>
  try {
    body = await receive(user.name)
  } finally {
    timer?.cancel()
  }
  if (body === 'no room') {
    throw newTooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
  }
  if (seat?.isLeft) await seat.take()
  context.request = withBody(request, body)
  return await next(context)
}
