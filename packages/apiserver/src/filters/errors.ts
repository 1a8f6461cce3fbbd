import { isStatusError, newInternalError } from '@coxswain/apimachinery'
import { getHeader, type WireResponse } from '@coxswain/wire'
import { errorResponse } from '../response.ts'
import { auditIdOf } from './audit.ts'
import type { Filter } from './filter.ts'
import { formatWarnings } from './warning-headers.ts'

/** Turns what is thrown into a Status, adds warnings and the audit id. Outermost: nothing gets past it. */
export const answerErrors: Filter = async (context, next) => {
  let response: WireResponse
  const accept = getHeader(context.request.headers, 'accept')
  try {
    response = await next(context)
  } catch (error) {
    if (isStatusError(error)) {
      response = errorResponse(error, accept)
    } else {
      if (!context.request.signal.aborted) {
        context.state.env.log.error('request failed', {
          error,
          method: context.request.method,
          path: context.request.path,
        })
      }
      response = errorResponse(newInternalError(error instanceof Error ? error : String(error)), accept)
    }
  }
  const headers: Record<string, string | readonly string[]> = {
    'audit-id': context.auditId ?? auditIdOf(context),
    ...response.headers,
  }
  if (context.warnings.length > 0) headers.warning = formatWarnings(context.warnings)
  return { ...response, headers }
}
