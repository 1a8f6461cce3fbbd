import { newTooManyRequests } from '@coxswain/apimachinery/status'
import type { WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import type { Filter, Next } from '../request/filter.ts'
import { withBody } from '../request/with-body.ts'

/** Milliseconds that a request keeps its seat while its body is received. */
const patience = 100
const retryAfterSeconds = 1

/** Handlers of other methods ignore bodies. */
const methods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Receives the body of a request that has passed every check on headers: requests rejected before cost no
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
  // A slow sender would keep complete requests waiting.
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
