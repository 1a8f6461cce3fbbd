import type {
  AggregatedDiscovery,
  DiscoveredGroup,
  LegacyGroup,
  LegacyResourceList,
  PartialResource,
  RESTMapper,
  RESTMapping,
} from '@coxswain/apimachinery/discovery'
import {
  groupsFromAggregatedDiscovery,
  groupsFromLegacyDiscovery,
  isMachineryError,
  isNotFound,
  parseGroupVersion,
  restMapperFromDiscovery,
} from '@coxswain/apimachinery/wire-format'
import { getHeader, parseMediaType, readBody } from '@coxswain/wire'
import type { Client } from './client.ts'
import { readFailure } from './failure.ts'
import { decodeJson } from './json.ts'
import { type DynamicKind, kindFor } from './kind-for.ts'
import type { CallOptions } from './options.ts'
import type { RestRequest } from './rest-request.ts'

/** What the server serves, requested once and cached. A lookup that fails refreshes the cache. */
export interface Discovery {
  /** In the server's order of preference. */
  groups(options?: CallOptions): Promise<readonly DiscoveredGroup[]>
  /** The `group/version`s that exist but could not be discovered, by name, in client-go's words. */
  failures(options?: CallOptions): Promise<ReadonlyMap<string, Error>>
  mapper(options?: CallOptions): Promise<RESTMapper>
  /** A kind by its type: `kindOf('apps/v1', 'Deployment')`. Throws `NoMatch` when it is not served. */
  kindOf(apiVersion: string, kind: string, options?: CallOptions): Promise<DynamicKind>
  /** A kind by what users type: `deploy`, `deployments` or `deployments.apps`. */
  kindForResource(resource: PartialResource, options?: CallOptions): Promise<DynamicKind>
  /** Makes the next call revalidate with the server. */
  invalidate(): void
}

const aggregatedForms = ['v2', 'v2beta1'].map(
  version => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
)
const accept = [...aggregatedForms, 'application/json'].join(',')

/** The last answer of `/api` or `/apis`. */
interface Held {
  readonly etag: string | undefined
  readonly aggregated: boolean
  readonly value: unknown
}

interface Snapshot {
  readonly groups: readonly DiscoveredGroup[]
  readonly failures: ReadonlyMap<string, Error>
  readonly mapper: RESTMapper
}

/** Creates a {@link Discovery} over a client. */
export function createDiscovery(client: Pick<Client, 'raw'>): Discovery {
  const held = new Map<string, Held>()
  /** Shared by concurrent callers. */
  let snapshot: Promise<Snapshot> | undefined

  const current = (options: CallOptions = {}): Promise<Snapshot> => {
    if (snapshot) return snapshot
    const pending = load(options)
    snapshot = pending
    pending.catch(() => {
      if (snapshot === pending) snapshot = undefined
    })
    return pending
  }

  const load = async (call: CallOptions): Promise<Snapshot> => {
    const [core, named] = [await ask('/api', call), await ask('/apis', call)]
    const { groups, failures } =
      isAggregated(core) && isAggregated(named) ? readAggregated(core, named) : await loadLegacy(call)
    return { groups, failures, mapper: restMapperFromDiscovery(groups, { shortNames: true }) }
  }

  /** Undefined when it is not served: a server with only extension groups has no `/api`. */
  const ask = async (path: string, call: CallOptions): Promise<Held | undefined> => {
    const before = held.get(path)
    const request: RestRequest = {
      path,
      accept,
      ...call,
      ...(before?.etag !== undefined && { headers: { 'if-none-match': before.etag } }),
    }
    const response = await client.raw.send(request)
    if (response.status === 304 && before) {
      await readBody(response.body)
      return before
    }
    if (response.status !== 200) {
      const failure = await readFailure(response, request)
      if (isNotFound(failure)) return undefined
      throw failure
    }
    const { parameters } = parseMediaType(getHeader(response.headers, 'content-type') ?? '')
    const answer: Held = {
      etag: getHeader(response.headers, 'etag'),
      aggregated: parameters.as === 'APIGroupDiscoveryList',
      value: decodeJson(await readBody(response.body)),
    }
    held.set(path, answer)
    return answer
  }

  const loadLegacy = async (call: CallOptions): Promise<Omit<Snapshot, 'mapper'>> => {
    const ask = async (path: string) => client.raw.request({ path, ...call }).catch(ifMissing)
    const core = (await ask('/api')) as { versions?: readonly string[] } | undefined
    const named = (await ask('/apis')) as { groups?: readonly LegacyGroup[] } | undefined
    const groups: LegacyGroup[] = [...(named?.groups ?? [])]
    if (core) groups.unshift({ name: '', versions: (core.versions ?? []).map(version => ({ version })) })
    const paths = groups.flatMap(({ name, versions = [] }) =>
      versions.map(({ version }) => (name ? `/apis/${name}/${version}` : `/api/${version}`)),
    )
    const lists: LegacyResourceList[] = []
    const failures = new Map<string, Error>()
    // An unavailable group must not hide the others.
    for (const path of paths) {
      try {
        lists.push((await client.raw.request({ path, ...call })) as LegacyResourceList)
      } catch (error) {
        call.signal?.throwIfAborted()
        failures.set(path.replace(/^\/apis?\//, ''), error as Error)
      }
    }
    return { groups: groupsFromLegacyDiscovery(groups, lists), failures }
  }

  const invalidate = () => {
    snapshot = undefined
  }

  /** Looks in the cache, and refreshes it once when that fails. */
  const find = async <T>(call: CallOptions, look: (mapper: RESTMapper) => T): Promise<T> => {
    const before = snapshot
    const { mapper } = await current(call)
    try {
      return look(mapper)
    } catch (error) {
      if (!isMachineryError(error, 'NoMatch') || !before) throw error
    }
    if (snapshot === before) invalidate()
    return look((await current(call)).mapper)
  }

  return {
    groups: async options => (await current(options)).groups,
    failures: async options => (await current(options)).failures,
    mapper: async options => (await current(options)).mapper,
    async kindOf(apiVersion, kind, options = {}) {
      const { group, version } = parseGroupVersion(apiVersion)
      return find(options, mapper => handleOf(mapper.restMapping({ group, kind }, version)))
    },
    async kindForResource(resource, options = {}) {
      return find(options, mapper => {
        const { group, version, resource: plural } = mapper.resourceFor(resource)
        const kind = mapper.kindFor({ group, version, resource: plural })
        const mapping = mapper
          .restMappings(kind, version)
          .find(candidate => candidate.resource.resource === plural)
        return handleOf(mapping ?? mapper.restMapping(kind, version))
      })
    },
    invalidate,
  }
}

/** A version whose own server does not answer is marked as stale, with its last known content. */
function readAggregated(core: Held, named: Held): Omit<Snapshot, 'mapper'> {
  const failures = new Map<string, Error>()
  const [api, apis] = [core.value as AggregatedDiscovery, named.value as AggregatedDiscovery]
  for (const { items = [] } of [api, apis]) {
    for (const { metadata, versions = [] } of items) {
      for (const { version, freshness } of versions) {
        if (freshness !== 'Stale') continue
        const name = metadata?.name ? `${metadata.name}/${version}` : version
        failures.set(name, new Error(`stale GroupVersion discovery: ${name}`))
      }
    }
  }
  return { groups: groupsFromAggregatedDiscovery(api, apis), failures }
}

function isAggregated(answer: Held | undefined): answer is Held {
  return answer?.aggregated === true
}

function ifMissing(error: unknown): undefined {
  if (isNotFound(error)) return undefined
  throw error
}

function handleOf({ kind, resource, singular, namespaced }: RESTMapping): DynamicKind {
  return kindFor({ ...kind, resource: resource.resource, singular, namespaced })
}
