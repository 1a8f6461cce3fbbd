import type { JsonObject } from '@coxswain/apimachinery/json'
import { newServiceUnavailable, StatusError } from '@coxswain/apimachinery/status'
import type { StoredObject } from '../../cache/stored-object.ts'
import type { WatchCache } from '../../cache/watch-cache.ts'

/** What decides whether a token bound to the object is valid. */
export interface BoundObject {
  readonly uid: string
  /** Milliseconds since the epoch; undefined unless it is terminating. */
  readonly deletedAt: number | undefined
  /** The whole object. */
  parse(): JsonObject
}

export type BoundResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes'

/** Reads the objects that tokens are bound to from the watch cache. */
export class BoundObjects {
  readonly #cache: WatchCache
  /** Every request with a token reads the same few objects: each version is parsed once. */
  readonly #known = new WeakMap<StoredObject, BoundObject>()

  constructor(cache: WatchCache) {
    this.#cache = cache
  }

  /**
   * The object as the cache has it now: a token becomes invalid as soon as a read shows that its object was deleted. Throws
   * a 503 before the cache is loaded: an empty cache says nothing about a token. The namespace of a Node is empty.
   */
  find(resource: BoundResource, namespace: string, name: string): BoundObject | undefined {
    if (this.#cache.revision === 0) throw isStarting()
    const prefix = `/core/${resource}/`
    const key = resource === 'nodes' ? `${prefix}${name}` : `${prefix}${namespace}/${name}`
    const stored = this.#cache.resource(prefix).get(key)
    if (!stored) return undefined
    let bound = this.#known.get(stored)
    if (!bound) {
      bound = read(stored)
      this.#known.set(stored, bound)
    }
    return bound
  }
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
