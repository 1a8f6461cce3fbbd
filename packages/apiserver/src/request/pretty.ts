import { getHeader, type QueryParameters, type WireRequest } from '@coxswain/wire'
import { negotiate } from './accept.ts'

const people = ['curl', 'Wget', 'Mozilla/5.0']
const truths = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

/** Whether the response is for a person: by `?pretty`, the user agent, or the accepted media type. */
export function isPretty({ headers, query: text }: WireRequest, query: QueryParameters): boolean {
  const accept = getHeader(headers, 'accept')
  if (accept?.includes('pretty') && negotiate(accept, () => true)?.pretty) return true
  const given = text.includes('pretty') ? query.get('pretty') : undefined
  if (given) return truths.has(given)
  const agent = getHeader(headers, 'user-agent')
  return agent !== undefined && people.some(program => agent.startsWith(program))
}
