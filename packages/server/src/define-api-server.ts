import { type ApiServer, type ApiServerOptions, createApiServer } from '@coxswain/apiserver'
import { createRealEnv } from '@coxswain/kit'
import { createMemoryStore } from '@coxswain/storage'
import type { Delegation } from './delegation.ts'
import { toOwnResource } from './own-resource.ts'
import type { ResourceDefinition } from './resource.ts'

/** An API server as data: importing it starts nothing. */
export interface ApiServerDefinition {
  /** The resources by their API group. */
  readonly groups: Readonly<Record<string, readonly ResourceDefinition[]>>
}

/** What a server needs besides its definition; all that kube-apiserver has is there, with its defaults. */
export interface OwnServerOptions extends Omit<Partial<ApiServerOptions>, 'resources'> {
  /**
   * The cluster that the server belongs to, behind its aggregator: its users, tokens, certificates of front proxies and
   * rights count, and its namespaces are not served here. @default none: the server stands alone, with the generic kinds
   */
  readonly delegation?: Delegation
}

/** Defines an API server. Throws an Error for a resource of another group, and for one that is there twice. */
export function defineApiServer(definition: ApiServerDefinition): ApiServerDefinition {
  const seen = new Set<string>()
  for (const [group, resources] of Object.entries(definition.groups))
    for (const { hub } of resources) {
      if (hub.group !== group) throw new Error(`${hub.kind} is of the group ${hub.group}, not ${group}`)
      const name = `${hub.resource}.${group}`
      if (seen.has(name)) throw new Error(`${name} is there twice`)
      seen.add(name)
    }
  return definition
}

/** Creates the server of a definition; nothing starts before `run`. */
export function createOwnApiServer(
  { groups }: ApiServerDefinition,
  { delegation, ...options }: OwnServerOptions = {},
): ApiServer {
  const env = options.env ?? createRealEnv()
  return createApiServer({
    ...options,
    env,
    store: options.store ?? createMemoryStore({ env }),
    kinds: options.kinds ?? (delegation ? [] : ['generic']),
    ...(delegation && {
      authentication: { ...delegation.authentication, ...options.authentication },
      authorizer: options.authorizer ?? delegation.authorizer,
    }),
    resources: server =>
      Object.values(groups).flatMap(resources =>
        resources.map(definition => toOwnResource(definition, server, env)),
      ),
  })
}
