import { isStatusError, newInternalError, newRequestEntityTooLarge } from '@coxswain/apimachinery/status'
import { isStoreError } from '@coxswain/storage'
import { describeRequest, getHeader, type WireResponse } from '@coxswain/wire'
import type { RequestContext } from '../request/context.ts'
import type { Answer, Filter } from '../request/filter.ts'
import { errorResponse } from '../request/response.ts'
import { auditIdOf } from './audit.ts'

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
  if (context.warnings.length > 0) headers.warning = context.warnings.toHeaders()
  if (response.conversation || response.unhurried) return { ...response, headers }
  return body === undefined ? { status, headers } : { status, headers, body }
}
