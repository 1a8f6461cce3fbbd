import type { JsonObject } from '@coxswain/apimachinery/json'
import { newServiceUnavailable, StatusError } from '@coxswain/apimachinery/status'
import type { StoredObject } from '../../cache/stored-object.ts'
import type { ServerState } from '../../request/context.ts'

/** What of an object decides whether a token lives. */
export interface BoundObject {
  readonly uid: string
  /** Milliseconds since the epoch; undefined while nobody has deleted it. */
  readonly deletedAt: number | undefined
  /** All of it. */
  parse(): JsonObject
}

export type BoundResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes'

/** Every request with a token looks at the same few objects: each is read once for as long as it stays as it is. */
const known = new WeakMap<StoredObject, BoundObject>()

/**
 * An object as the cache has it now: a token dies with what it is bound to as soon as a read would show it. Throws a 503
 * before the cache has been loaded: that nothing is there yet says nothing of a token.
 */
export function findBoundObject(
  state: ServerState,
  resource: BoundResource,
  namespace: string,
  name: string,
): BoundObject | undefined {
  if (state.cache.revision === 0) throw isStarting()
  const prefix = `/core/${resource}/`
  const key = resource === 'nodes' ? `${prefix}${name}` : `${prefix}${namespace}/${name}`
  const stored = state.cache.resource(prefix).get(key)
  if (!stored) return undefined
  let bound = known.get(stored)
  if (!bound) {
    bound = read(stored)
    known.set(stored, bound)
  }
  return bound
}

function isStarting(): StatusError {
  const { status } = newServiceUnavailable('the server is starting')
  return new StatusError({ ...status, details: { retryAfterSeconds: 1 } })
}

function read(stored: StoredObject): BoundObject {
  const { uid = '', deletionTimestamp } = stored.parse().metadata as {
    uid?: string
    deletionTimestamp?: string
  }
  const deletedAt = deletionTimestamp ? Date.parse(deletionTimestamp) : undefined
  return { uid, deletedAt, parse: () => stored.parse() }
}
