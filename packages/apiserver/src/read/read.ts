import {
  newNotFound,
  newResourceExpired,
  newTooLargeResourceVersion,
  StatusError,
} from '@coxswain/apimachinery/status'
import { isCompacted } from '@coxswain/storage'
import type { WireResponse } from '@coxswain/wire'
import { StoredObject } from '../cache/stored-object.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import { serveAll } from '../registry/convert.ts'
import { type Endpoint, objectKey, type ServedResource } from '../registry/registry.ts'
import type { RequestContext, ResourceContext } from '../request/context.ts'
import type { Answer } from '../request/filter.ts'
import {
  type ListOptions,
  parseListOptions,
  parseResourceVersion,
  validateListOptions,
} from '../request/list-options.ts'
import { decodeContinueToken, encodeContinueToken } from './continue-token.ts'
import { createMatcher, type Matcher } from './matcher.ts'
import type { ReadPorts } from './ports.ts'
import { View } from './view.ts'

/** How long a read waits for a future revision. */
const tooLargeWait = 3_000

export interface Page {
  readonly objects: readonly StoredObject[]
  readonly revision: number
  /** Where the next page begins, relative to the list's prefix; undefined for the last page. */
  readonly next: string | undefined
  readonly remaining: number
}

/** Answers `get` and `list`, and reads for other handlers. */
export class Reader {
  readonly #ports: ReadPorts

  constructor(ports: ReadPorts) {
    this.#ports = ports
  }

  /** How the client of a request sees the endpoint's objects. Throws a 406 when it accepts no supported media type. */
  view(context: RequestContext, endpoint: Endpoint): View {
    return new View(context, endpoint, this.#ports.turns)
  }

  get(context: ResourceContext, endpoint: Endpoint): Answer {
    const view = this.view(context, endpoint)
    const version = context.query.get('resourceVersion') ?? ''
    const waiting = this.freshen(context, version, parseResourceVersion(version, 'get'))
    if (!waiting) return view.object(200, getStored(context, endpoint))
    return waiting.then(() => view.object(200, getStored(context, endpoint)))
  }

  async list(context: ResourceContext, endpoint: Endpoint): Promise<WireResponse> {
    const view = this.view(context, endpoint)
    const options = parseListOptions(context.query)
    validateListOptions(options)
    const matcher = createMatcher(endpoint, options)
    await convertCandidates(context, endpoint, matcher)
    const page = await this.readPage(context, endpoint, { options, matcher })
    return view.list(page.objects, {
      ...(page.next === undefined && endpoint.resource.lastPage),
      resourceVersion: String(page.revision),
      ...(page.next !== undefined && {
        continue: encodeContinueToken({ revision: page.revision, start: page.next }),
      }),
      ...(page.next !== undefined && matcher.all && { remainingItemCount: page.remaining }),
    })
  }

  /** The latest version of the request's object, however old the cache was. Throws a 404 when it does not exist. */
  async getFresh(context: ResourceContext, endpoint: Endpoint): Promise<StoredObject> {
    await this.#ports.cache.fresh()
    return getStored(context, endpoint)
  }

  /**
   * Waits until the cache is as new as the request's `resourceVersion` asks: unset means the latest, 0 means any.
   * Undefined when it already is.
   */
  freshen({ request }: RequestContext, version: string, revision: number): Promise<void> | undefined {
    const { cache } = this.#ports
    if (version === '') return cache.fresh()
    return cache.revision >= revision ? undefined : reach(cache, revision, request.signal)
  }

  /** The response to a list, from the cache where possible, from the store's history for an exact revision. */
  async readPage(context: ResourceContext, endpoint: Endpoint, selection: Selection): Promise<Page> {
    const { options, matcher } = selection
    const { cache } = this.#ports
    const { resource } = endpoint
    const prefix = listPrefix(context, endpoint)
    if (options.continue !== '') return await this.#continuePage(resource, prefix, selection)
    const revision = parseResourceVersion(options.resourceVersion, 'list')
    await this.freshen(context, options.resourceVersion, revision)
    const exact =
      options.resourceVersionMatch === 'Exact' ||
      (options.resourceVersionMatch === '' && revision > 0 && options.limit > 0)
    if (exact && revision !== cache.revision) {
      return await this.#readHistory(resource, { ...selection, prefix, start: prefix, revision })
    }
    const limit = options.resourceVersion === '0' ? 0 : options.limit
    if (matcher.name !== undefined && resource.info.namespaced === (context.info.namespace !== '')) {
      const stored = resource.cache.get(prefix + matcher.name)
      return {
        objects: stored && matcher.matches(stored) ? [stored] : [],
        revision: cache.revision,
        next: undefined,
        remaining: 0,
      }
    }
    return cutPage(resource.cache.list(prefix), { prefix, limit, matcher, revision: cache.revision })
  }

  /** The page of a continue token. */
  async #continuePage(
    resource: ServedResource,
    prefix: string,
    { options, matcher }: Selection,
  ): Promise<Page> {
    const { cache } = this.#ports
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw new StatusError({ ...badContinue })
    }
    const token = decodeContinueToken(options.continue)
    const start = prefix + token.start
    if (token.revision > 0 && token.revision !== cache.revision) {
      return await this.#readHistory(resource, {
        prefix,
        start,
        revision: token.revision,
        options,
        matcher,
      })
    }
    await cache.fresh()
    const { revision } = cache
    return cutPage(resource.cache.list(prefix, start), { prefix, limit: options.limit, matcher, revision })
  }

  /** A page of the state at an exact revision. */
  async #readHistory({ cache, info }: ServedResource, read: HistoryRead): Promise<Page> {
    const { prefix, revision, options, matcher } = read
    const found: StoredObject[] = []
    let start = read.start
    for (;;) {
      const page = await this.#rangeAt(read, start)
      let left = page.count
      for (const kv of page.items) {
        left--
        const [namespace, name] = splitKey(kv.key.slice(cache.prefix.length), info)
        const cached = cache.get(kv.key)
        const object =
          cached?.revision === kv.modRevision
            ? cached
            : new StoredObject(kv.key, namespace, name, kv.modRevision, kv.value)
        if (!matcher.matches(object)) continue
        if (options.limit > 0 && found.length === options.limit) {
          return {
            objects: found,
            revision,
            next: `${found.at(-1)!.key.slice(prefix.length)}\0`,
            remaining: left + 1,
          }
        }
        found.push(object)
      }
      if (!page.more) return { objects: found, revision, next: undefined, remaining: 0 }
      start = `${page.items.at(-1)!.key}\0`
    }
  }

  async #rangeAt(read: HistoryRead, start: string) {
    const limit = read.options.limit > 0 && read.matcher.all ? read.options.limit + 1 : historyPageSize
    try {
      return await this.#ports.store.range(read.prefix, { revision: read.revision, start, limit })
    } catch (error) {
      if (isCompacted(error)) throw expired(read)
      throw error
    }
  }
}

/** Which objects of a collection to list. */
export interface Selection {
  readonly options: ListOptions
  readonly matcher: Matcher
}

interface HistoryRead extends Selection {
  readonly prefix: string
  readonly start: string
  readonly revision: number
}

const historyPageSize = 1_000

/** The request's object. Throws a 404 when it does not exist. */
export function getStored(context: ResourceContext, { resource }: Endpoint): StoredObject {
  const { namespace, name } = context.info
  const stored = resource.cache.get(objectKey(resource, namespace, name))
  if (!stored) throw newNotFound(resource.info, name)
  return stored
}

async function reach(cache: WatchCache, revision: number, signal: AbortSignal): Promise<void> {
  if (await cache.reaches(revision, tooLargeWait, signal)) return
  throw newTooLargeResourceVersion(revision, cache.revision, 1)
}

/** With a conversion webhook, selectors can only be matched after conversion. */
function convertCandidates(context: ResourceContext, endpoint: Endpoint, matcher: Matcher): unknown {
  const { resource } = endpoint
  if (!resource.strategy.convertAll || matcher.all) return undefined
  return serveAll(endpoint, resource.cache.list(listPrefix(context, endpoint)))
}

const badContinue = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'specifying resource version is not allowed when using continue',
  reason: 'BadRequest',
  code: 400,
} as const

function listPrefix(context: ResourceContext, { resource }: Endpoint): string {
  const { namespace } = context.info
  return resource.info.namespaced && namespace !== ''
    ? `${resource.cache.prefix}${namespace}/`
    : resource.cache.prefix
}

interface Cut {
  readonly prefix: string
  readonly limit: number
  readonly matcher: Matcher
  readonly revision: number
}

/** Up to `limit` matching objects of a sorted list (0: all of them). */
function cutPage(objects: readonly StoredObject[], { prefix, limit, matcher, revision }: Cut): Page {
  if (limit === 0) {
    const found = matcher.all ? objects : objects.filter(object => matcher.matches(object))
    return { objects: found, revision, next: undefined, remaining: 0 }
  }
  const found: StoredObject[] = []
  for (let i = 0; i < objects.length; i++) {
    const object = objects[i]!
    if (!matcher.matches(object)) continue
    if (found.length === limit) {
      const last = found.at(-1)!
      return {
        objects: found,
        revision,
        next: `${last.key.slice(prefix.length)}\0`,
        remaining: objects.length - i,
      }
    }
    found.push(object)
  }
  return { objects: found, revision, next: undefined, remaining: 0 }
}

/** A 410; for a page whose revision was compacted, with a token that continues at the current revision. */
function expired(read: HistoryRead): StatusError {
  const error = newResourceExpired(
    read.options.continue === ''
      ? `The resourceVersion for the provided list is too old.`
      : 'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  if (read.options.continue === '') return error
  const token = encodeContinueToken({ revision: -1, start: read.start.slice(read.prefix.length) })
  return new StatusError({ ...error.status, metadata: { continue: token } })
}

function splitKey(rest: string, { namespaced }: { readonly namespaced: boolean }): readonly [string, string] {
  if (!namespaced) return ['', rest]
  const slash = rest.indexOf('/')
  return [rest.slice(0, slash), rest.slice(slash + 1)]
}
