import { aggregatedDiscoveryMediaType, type VersionDiscovery } from '@coxswain/api'
import { deepEqual } from '@coxswain/apimachinery/json'
import { parseMediaType } from '@coxswain/wire'
import { ControlLoop, type ControlLoopPorts } from '../cache/control-loop.ts'
import { type ApiServices, apiServicesPrefix, isRemote, type RemoteApiService } from './api-services.ts'
import { type DocumentRequest, type FetchedDocument, fetchDocument } from './fetch-document.ts'
import type { ProxyPorts } from './proxy.ts'
import { type RemoteVersion, readAggregatedDiscovery, readResourceList } from './read-discovery.ts'

export interface RemoteDiscoveryPorts extends ProxyPorts, ControlLoopPorts {
  readonly services: ApiServices
}

/** How often documents are fetched again, and the longest wait after a failure, in milliseconds. */
const interval = 60_000
/** The wait after the first failure; doubles with each further one. */
const firstRetry = 500
const timeout = 5_000
/** The longest discovery document: that of all built-in groups has a fortieth. */
const limit = 4 * 1024 ** 2

const administrator = { name: 'system:kube-aggregator', groups: ['system:masters'] }
/** As upstream: the older form is asked for without a group. */
const aggregator = { name: 'system:kube-aggregator', groups: [] }

const accept = `${aggregatedDiscoveryMediaType},${aggregatedDiscoveryMediaType.replace('v=v2', 'v=v2beta1')}`

interface Known {
  readonly etag: string
  /** By `GROUP/VERSION`. */
  readonly versions: ReadonlyMap<string, RemoteVersion>
  /** When it was requested, by the monotonic clock. */
  readonly fetchedAt: number
}

/**
 * What extension API servers serve: fetched when an APIService changes and every minute, kept in between. A version whose server does
 * not respond is listed without resources, as `Stale`.
 */
export class RemoteDiscovery {
  readonly #ports: RemoteDiscoveryPorts
  readonly #loop: ControlLoop
  /** By the Service; several versions may have the same server. */
  readonly #known = new Map<string, Known>()
  readonly #failures = new Map<string, number>()
  /** By the name of the APIService: a document must not be older than the change. */
  readonly #dirtyAt = new Map<string, number>()
  #versions: ReadonlyMap<string, VersionDiscovery> = new Map()

  constructor(ports: RemoteDiscoveryPorts) {
    this.#ports = ports
    this.#loop = new ControlLoop(ports, {
      name: 'apiservice-discovery',
      prefixes: [apiServicesPrefix],
      workers: 2,
      keysOf: ({ object }) => {
        this.#dirtyAt.set(object.name, ports.env.clock.monotonic())
        return [object.name]
      },
      initialKeys: () => ports.services.all.filter(isRemote).map(({ name }) => name),
      reconcile: (name, signal) => this.#refresh(name, signal),
    })
  }

  /** By `GROUP/VERSION`. A new map after each change. */
  get versions(): ReadonlyMap<string, VersionDiscovery> {
    return this.#versions
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  async #refresh(name: string, signal: AbortSignal): Promise<number | undefined> {
    const { services, env } = this.#ports
    const service = services.get(name)
    if (!service || !isRemote(service)) {
      this.#failures.delete(name)
      this.#dirtyAt.delete(name)
      this.#forget(name)
      return undefined
    }
    let version: RemoteVersion | undefined
    let isCurrent = true
    try {
      const versions = await this.#fetch(service, signal)
      version = versions.get(`${service.group}/${service.version}`)
    } catch (error) {
      signal.throwIfAborted()
      isCurrent = false
      env.log.debug('discovery of an APIService failed', { name, error })
    }
    // The APIService may have changed in the meantime: then its change is reconciled next.
    const present = services.get(name)
    if (present && isRemote(present)) this.#set(service, version, isCurrent ? 'Current' : 'Stale')
    if (isCurrent) {
      this.#failures.delete(name)
      this.#dirtyAt.set(name, env.clock.monotonic() + interval)
      return interval
    }
    const failures = this.#failures.get(name) ?? 0
    this.#failures.set(name, failures + 1)
    return Math.min(firstRetry * 2 ** failures, interval)
  }

  #set(
    { group, version: name }: RemoteApiService,
    known: RemoteVersion | undefined,
    freshness: VersionDiscovery['freshness'],
  ): void {
    const resources = known?.resources ?? []
    const version: VersionDiscovery = { version: name, ...(resources.length > 0 && { resources }), freshness }
    const key = `${group}/${name}`
    if (deepEqual(this.#versions.get(key), version)) return
    this.#versions = new Map(this.#versions).set(key, version)
  }

  #forget(name: string): void {
    const [version = '', ...group] = name.split('.')
    const key = `${group.join('.')}/${version}`
    if (!this.#versions.has(key)) return
    const rest = new Map(this.#versions)
    rest.delete(key)
    this.#versions = rest
    const used = new Set(this.#ports.services.all.filter(isRemote).map(keyOf))
    for (const known of this.#known.keys()) if (!used.has(known)) this.#known.delete(known)
  }

  /** The versions of the server behind an APIService. Rejects when they cannot be had. */
  async #fetch(service: RemoteApiService, signal: AbortSignal): Promise<ReadonlyMap<string, RemoteVersion>> {
    const { env } = this.#ports
    const key = keyOf(service)
    const known = this.#known.get(key)
    const dirtyAt = this.#dirtyAt.get(service.name) ?? Number.NEGATIVE_INFINITY
    if (known && known.fetchedAt > dirtyAt && known.fetchedAt > env.clock.monotonic() - interval)
      return known.versions
    const fetchedAt = env.clock.monotonic()
    const answer = await this.#get(service, {
      path: '/apis',
      user: administrator,
      accept,
      etag: known?.etag,
      signal,
    })
    if (answer.status === 304 && known) {
      this.#known.set(key, { ...known, fetchedAt })
      return known.versions
    }
    if (answer.status === 503) throw new Error(`${key} returned non-success response code: 503`)
    if (answer.status === 200 && isAggregated(answer.contentType)) {
      const versions = readAggregatedDiscovery(answer.body)
      this.#known.set(key, { etag: answer.etag, versions, fetchedAt })
      return versions
    }
    const { group, version } = service
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const older = await this.#get(service, { path, user: aggregator, accept: 'application/json', signal })
    if (older.status !== 200)
      throw new Error(`failed to download legacy discovery for ${path}: ${older.status}`)
    return new Map([[`${group}/${version}`, readResourceList(older.body, version)]])
  }

  #get(
    { server }: RemoteApiService,
    request: Pick<DocumentRequest, 'path' | 'user' | 'accept' | 'etag' | 'signal'>,
  ): Promise<FetchedDocument> {
    const resolved = this.#ports.servers.resolve(server)
    if (!resolved.found) throw new Error(resolved.reason)
    return fetchDocument(this.#ports, server, { ...request, address: resolved.address, timeout, limit })
  }
}

function keyOf({ server }: RemoteApiService): string {
  return `service ${server.namespace}/${server.name}:${server.port}`
}

function isAggregated(contentType: string): boolean {
  const { type, parameters } = parseMediaType(contentType)
  return (
    type === 'application/json' &&
    parameters.g === 'apidiscovery.k8s.io' &&
    (parameters.v === 'v2' || parameters.v === 'v2beta1') &&
    parameters.as === 'APIGroupDiscoveryList'
  )
}
