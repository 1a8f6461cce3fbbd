import type { WireResponse } from '@coxswain/wire'
import type { Turns } from '../cache/slices.ts'
import type { RequestContext } from '../request/context.ts'
import type { Filter } from '../request/filter.ts'
import { indentedBody } from '../request/indented-json.ts'
import { isPretty } from '../request/pretty.ts'

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
