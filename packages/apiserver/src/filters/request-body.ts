import { isMachineryError } from '@coxswain/apimachinery/errors'
import { newBadRequest, newTooManyRequests } from '@coxswain/apimachinery/status'
import { decodeText } from '@coxswain/kit'
import { getHeader, parseMediaType, type WireResponse } from '@coxswain/wire'
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
  const isRead = context.info.isResource || context.delegate !== undefined
  if (!receive || !isRead || !methods.has(method)) return next(context)
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

/**
 * Parses a YAML document and returns it as JSON, without blocking the caller's thread. Rejects with a MachineryError,
 * as `readYaml` throws it.
 */
export type YamlReader = (bytes: Uint8Array) => Promise<YamlAsJson>

export interface YamlAsJson {
  readonly json: Uint8Array
  /** Strict decoding errors of the text. */
  readonly problems: readonly string[]
}

/** Smaller bodies are parsed faster than they are sent to another thread. */
const largeFrom = 16 * 1024

/**
 * Parses large YAML bodies on another thread: a quarter of a megabyte takes a tenth of a second. The body becomes JSON, so
 * handlers need not know. Comes after authorization: no work is done for unauthorized clients.
 */
export function createLargeYaml(read: YamlReader): Filter {
  return (context, next) => {
    const { body, headers } = context.request
    if (!body || body.length < largeFrom) return next(context)
    const { type } = parseMediaType(getHeader(headers, 'content-type') ?? '')
    if (!type.endsWith('yaml') || isJson(body)) return next(context)
    return readElsewhere(context, body, next)
  }

  async function readElsewhere(context: RequestContext, body: Uint8Array, next: Next): Promise<WireResponse> {
    try {
      const { json, problems } = await read(body)
      context.request = withBody(context.request, json)
      context.yamlProblems = problems
    } catch (error) {
      if (isMachineryError(error)) throw newBadRequest(`error decoding YAML: ${error.message}`)
      throw error
    }
    return await next(context)
  }
}

/** Whether the body is JSON, as most bodies of this type are: kubectl sends its applies so. */
function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(decodeText(body))
    return true
  } catch {
    return false
  }
}
