import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import type { Env } from '@coxswain/kit'
import type { Store } from '@coxswain/storage'
import type { Strategy } from '@coxswain/strategies'
import { WatchCache } from '../cache/watch-cache.ts'
import type { Reader } from '../read/read.ts'
import { createServedResource, type ResourceHandler, type ServedResource } from '../registry/registry.ts'
import { createCustomConventions } from './conventions.ts'
import { createCustomStrategy } from './custom-strategy.ts'
import { type ComputeObjects, createVirtualHandlers, type OwnServer } from './own-server.ts'

/**
 * A resource that the host of the server defines, in code. It is served by its schema, as a custom resource is, and by rules,
 * handlers and a store of its own. A CustomResourceDefinition of the same name is never served.
 */
export interface OwnResource {
  readonly info: ResourceInfo
  /** Its rules, beyond the schema. */
  readonly strategy: Strategy
  /** Where its objects are, below the keys `/GROUP/RESOURCE/`; it belongs to the caller. @default the server's store */
  readonly store?: Store
  /** Handlers in place of the usual ones, by `SUBRESOURCE verb`; the subresource is empty for the resource itself. */
  readonly handlers?: Readonly<Record<string, ResourceHandler>>
  /** Computes its objects for each request to get or list them; they are stored nowhere. */
  readonly compute?: ComputeObjects
}

/** Creates the resources of a server; called once, before they are served. */
export type OwnResources = (server: OwnServer) => readonly OwnResource[]

export interface OwnResourcePorts {
  readonly env: Env
  readonly cache: WatchCache
  readonly reader: Reader
}

/** Loads its objects, if they are in a store of its own. */
export async function serveOwnResource(
  { env, cache, reader }: OwnResourcePorts,
  { info, strategy, store, compute, handlers }: OwnResource,
): Promise<ServedResource> {
  const home = store && { store, cache: new WatchCache({ store, env }) }
  await home?.cache.load()
  return createServedResource(info, {
    strategy: { ...createCustomStrategy(info, { isTerminating: () => false }), ...strategy },
    conventions: { ...createCustomConventions(info), inScheme: true },
    cacheOf: prefix => (home?.cache ?? cache).resource(prefix),
    handlers: { ...(compute && createVirtualHandlers(reader, compute)), ...handlers },
    ...(home && { home }),
  })
}
