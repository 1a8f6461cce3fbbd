import type { WireResponse } from '@coxswain/wire'
import type { Turns } from '../cache/slices.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'
import { indentedBody } from '../request/indented-json.ts'
import { isPretty } from '../request/pretty.ts'

/** Indents JSON for people: `?pretty=true`, curl, Wget and browsers. */
export function createIndent(turns: Turns): Filter {
  return (context, next) => {
    // Filters behind may take headers away.
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

/** Documents that upstream serves as they are; their errors are Statuses like all others. */
const plainDocuments = new Set(['openapi', 'openid', '.well-known'])

/** Watches, what is passed on from Pods and nodes, and documents that are not negotiated. */
function isLeftAlone(
  { info, path }: RequestContext,
  { status, unhurried, conversation }: WireResponse,
): boolean {
  if (unhurried || conversation) return true
  if (status !== 200) return false
  return info.isResource ? info.verb === 'watch' : plainDocuments.has(path.segments[0] ?? '')
}
