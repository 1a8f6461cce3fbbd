import type { RequestContext } from '../request/context.ts'

const objectsPerSeat = 100
const mostSeats = 10

/** How much of the server's attention a request takes: one seat, and more for long lists. */
export function estimateSeats({ info, query, state }: RequestContext): number {
  if (!info.isResource || info.verb !== 'list') return 1
  const resource = state.registry.findResource(info.group, info.resource)
  if (!resource) return 1
  const stored = resource.cache.size
  const limit = Number(query.get('limit') ?? 0)
  const expected = limit > 0 ? Math.min(limit, stored) : stored
  return Math.min(mostSeats, Math.max(1, Math.ceil(expected / objectsPerSeat)))
}
