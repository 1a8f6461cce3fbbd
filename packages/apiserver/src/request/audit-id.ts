import { getHeader } from '@coxswain/wire'
import type { RequestContext } from './context.ts'

const longestId = 64

/** The audit id of a request: the client's own, or a new one. */
export function auditIdOf({ request, env }: RequestContext): string {
  const given = getHeader(request.headers, 'audit-id')
  if (given !== undefined && /^[\w.:-]+$/.test(given)) return given.slice(0, longestId)
  return env.random.uuid()
}
