import type { Registry } from '../registry/registry.ts'
import type { RequestContext } from '../request/context.ts'

const objectsPerSeat = 100
const mostSeats = 10

/** The number of seats of a request: one, more for long lists. */
export function estimateSeats(
  registry: Registry,
  { info, query }: Pick<RequestContext, 'info' | 'query'>,
): number {
  if (!info.isResource || info.verb !== 'list') return 1
  const resource = registry.findResource(info.group, info.resource)
  if (!resource) return 1
  const stored = resource.cache.size
  const limit = Number(query.get('limit') ?? 0)
  const expected = limit > 0 ? Math.min(limit, stored) : stored
  return Math.min(mostSeats, Math.max(1, Math.ceil(expected / objectsPerSeat)))
}
