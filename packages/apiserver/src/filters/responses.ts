import { isStatusError, newInternalError, newRequestEntityTooLarge } from '@coxswain/apimachinery/status'
import { isStoreError } from '@coxswain/storage'
import {
  describeRequest,
  getHeader,
  getHeaderValues,
  isStream,
  type WireBody,
  type WireResponse,
} from '@coxswain/wire'
import type { Turns } from '../cache/slices.ts'
import { auditIdOf } from '../request/audit-id.ts'
import { acceptsGzip, type Compression } from '../request/compression.ts'
import type { RequestContext } from '../request/context.ts'
import type { Answer, Filter } from '../request/filter.ts'
import { indentedBody } from '../request/indented-json.ts'
import { isLongRunning } from '../request/long-running.ts'
import { isPretty } from '../request/pretty.ts'
import { errorResponse } from '../request/response.ts'

/** Turns thrown errors into a Status, and adds warnings and the audit id. Outermost: no error gets past it. */
export const answerErrors: Filter = (context, next) => {
  const accept = getHeader(context.request.headers, 'accept')
  let answer: Answer
  try {
    answer = next(context)
  } catch (error) {
    return finish(context, answerTo(context, error, accept))
  }
  if (!(answer instanceof Promise)) return finish(context, answer)
  return answer.then(
    response => finish(context, response),
    (error: unknown) => finish(context, answerTo(context, error, accept)),
  )
}

function answerTo({ request, env }: RequestContext, error: unknown, accept?: string): WireResponse {
  if (isStatusError(error)) return errorResponse(error, accept)
  // Defaults and managed fields make an object larger than the request that it came with.
  if (isStoreError(error) && error.code === 'TooLarge')
    return errorResponse(newRequestEntityTooLarge(error.message), accept)
  if (!request.signal.aborted) {
    env.log.error('request failed', { error, ...describeRequest(request) })
  }
  return errorResponse(newInternalError(error instanceof Error ? error : String(error)), accept)
}

function finish(context: RequestContext, response: WireResponse): WireResponse {
  const { status, headers: own, body } = response
  const headers: Record<string, string | readonly string[]> = {
    'audit-id': context.auditId ?? auditIdOf(context),
    ...own,
  }
  if (context.warnings.length > 0)
    headers.warning = [...getHeaderValues(own, 'warning'), ...context.warnings.toHeaders()]
  if (response.conversation || response.unhurried) return { ...response, headers }
  return body === undefined ? { status, headers } : { status, headers, body }
}

/** Smaller responses are not compressed: upstream's limit. */
const smallest = 128 * 1024

/** Compresses large responses to reads when the client accepts gzip. Long-running streams are left alone. */
export function createCompress(compression: Compression): Filter {
  return (context, next) => {
    // Later filters may remove headers, so Accept-Encoding is read first.
    const { request, info } = context
    const isWanted =
      request.method === 'GET' &&
      !isLongRunning(info) &&
      acceptsGzip(getHeader(request.headers, 'accept-encoding'))
    if (!isWanted) return next(context)
    const answer = next(context)
    return answer instanceof Promise ? answer.then(compress) : compress(answer)
  }

  function compress(response: WireResponse): WireResponse {
    const { status, headers, body, unhurried } = response
    // Other servers, behind this one, compress what they want compressed.
    if (status !== 200 || unhurried || headers['content-encoding'] !== undefined || !isLarge(body))
      return response
    const vary = headers.vary === undefined ? 'Accept-Encoding' : `${String(headers.vary)}, Accept-Encoding`
    return {
      status,
      headers: { ...headers, 'content-encoding': 'gzip', vary },
      body: compression.gzip(isStream(body) ? body : piecesOf(body)),
    }
  }
}

/** Lists are only streamed when they are large. */
function isLarge(body: WireBody | undefined): body is WireBody {
  if (body === undefined) return false
  if (body instanceof Uint8Array) return body.length > smallest
  return isStream(body) || body.reduce((sum, { length }) => sum + length, 0) > smallest
}

async function* piecesOf(
  body: Uint8Array | readonly Uint8Array[],
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}

/** Indents JSON for people: with `?pretty=true`, and for curl, Wget and browsers. */
export function createIndent(turns: Turns): Filter {
  return (context, next) => {
    // Later filters may remove headers.
    if (!isPretty(context.request, context.query)) return next(context)
    const answer = next(context)
    return answer instanceof Promise
      ? answer.then(response => indent(context, response))
      : indent(context, answer)
  }

  function indent(context: RequestContext, response: WireResponse): WireResponse {
    const { headers, body } = response
    if (!body || !String(headers['content-type']).startsWith('application/json')) return response
    if (headers['content-encoding'] !== undefined || isLeftAlone(context, response)) return response
    const { 'content-length': _, ...others } = headers
    return { ...response, headers: others, body: indentedBody(body, turns) }
  }
}

/** Documents that upstream serves unindented; their errors are ordinary Statuses. */
const plainDocuments = new Set(['openapi', 'openid', '.well-known'])

/** Watches, proxied responses, and documents without content negotiation. */
function isLeftAlone(
  { info, path }: RequestContext,
  { status, unhurried, conversation }: WireResponse,
): boolean {
  if (unhurried || conversation) return true
  if (status !== 200) return false
  return info.isResource ? info.verb === 'watch' : plainDocuments.has(path.segments[0] ?? '')
}
