import { type ForeignOpenApiV2, filterOpenApiV2 } from '@coxswain/api'
import { isObject, readJson } from '@coxswain/apimachinery/json'
import { ControlLoop, type ControlLoopPorts } from '../cache/control-loop.ts'
import type { Ranked } from '../discovery/group-order.ts'
import {
  type ApiService,
  type ApiServices,
  apiServicesPrefix,
  isRemote,
  type RemoteApiService,
} from './api-services.ts'
import { fetchDocument } from './fetch-document.ts'
import type { ProxyPorts } from './proxy.ts'

export interface RemoteOpenApiPorts extends ProxyPorts, ControlLoopPorts {
  readonly services: ApiServices
}

/** How often documents are fetched again, in milliseconds. */
const interval = 60_000
/** The longest wait after failures; the first is an interval, and each doubles it. */
const longest = 60 * 60_000
/** After a change: the server may just have started. */
const firstDelay = 1_000
const timeout = 60_000
/** The longest document. That of all built-in groups has four megabytes. */
const limit = 16 * 1024 ** 2
const user = { name: 'system:aggregator', groups: [] }

/** What one server was found to have; what could not be fetched again stays. */
interface Fetched {
  readonly rank: Ranked
  readonly v2?: ForeignOpenApiV2
  readonly v2Etag?: string
  /** URLs of documents below `/openapi/v3`, by name. */
  readonly v3?: ReadonlyMap<string, string>
}

/** The OpenAPI documents of extension API servers: fetched when they become available and every minute, kept in between. */
export class RemoteOpenApi {
  readonly #ports: RemoteOpenApiPorts
  readonly #loop: ControlLoop
  readonly #fetched = new Map<string, Fetched>()
  readonly #failures = new Map<string, number>()
  #specs: readonly ForeignOpenApiV2[] = []
  #documents: ReadonlyMap<string, string> = new Map()

  constructor(ports: RemoteOpenApiPorts) {
    this.#ports = ports
    const remote = () => ports.services.all.filter(isRemote).map(({ name }) => name)
    this.#loop = new ControlLoop(ports, {
      name: 'apiservice-openapi',
      prefixes: [apiServicesPrefix],
      keysOf: ({ object }) => [object.name],
      initialKeys: remote,
      reconcile: (name, signal) => this.#refresh(name, signal),
    })
  }

  /** The v2 documents, the most preferred first; another list after each change. */
  get specs(): readonly ForeignOpenApiV2[] {
    return this.#specs
  }

  /** The URLs of v3 documents, by name (`apis/GROUP/VERSION`); another map after each change. */
  get documents(): ReadonlyMap<string, string> {
    return this.#documents
  }

  /** The APIService whose server has a v3 document. */
  ownerOf(document: string): RemoteApiService | undefined {
    for (const [name, { v3 }] of this.#fetched) {
      const service = v3?.has(document) ? this.#ports.services.get(name) : undefined
      if (service && isRemote(service)) return service
    }
    return undefined
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal)
  }

  async #refresh(name: string, signal: AbortSignal): Promise<number | undefined> {
    const { services, env } = this.#ports
    const service = services.get(name)
    if (!service || !isRemote(service)) {
      this.#failures.delete(name)
      if (this.#fetched.delete(name)) this.#publish()
      return undefined
    }
    // A change of its condition is the next event.
    if (!service.isAvailable) return undefined
    const known = this.#fetched.get(name)
    const results = await Promise.allSettled([
      this.#fetchV2(service, known, signal),
      this.#fetchV3(service, signal),
    ])
    signal.throwIfAborted()
    if (!isSameServer(services.get(name), service)) return firstDelay
    const found = results.map(result => (result.status === 'fulfilled' ? result.value : {}))
    this.#fetched.set(name, Object.assign({ ...known, rank: service }, ...found))
    this.#publish()
    const errors = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
    if (errors.length === 0) {
      this.#failures.delete(name)
      return interval
    }
    for (const error of errors) env.log.warn('OpenAPI of an APIService failed', { name, error })
    const failures = this.#failures.get(name) ?? 0
    this.#failures.set(name, failures + 1)
    return failures === 0 ? firstDelay : Math.min(interval * 2 ** (failures - 1), longest)
  }

  async #fetchV2(
    service: RemoteApiService,
    known: Fetched | undefined,
    signal: AbortSignal,
  ): Promise<Partial<Fetched>> {
    const { status, body, etag } = await this.#get(service, '/openapi/v2', signal, known?.v2Etag)
    if (status === 304 && known) return {}
    if (status === 404) return {}
    if (status !== 200) throw new Error(`failed to retrieve openAPI spec, http error: ${status}`)
    const v2 = filterOpenApiV2(readJson(body).value, `/apis/${service.group}/${service.version}/`)
    return { v2, v2Etag: etag }
  }

  async #fetchV3(service: RemoteApiService, signal: AbortSignal): Promise<Partial<Fetched>> {
    const { status, body } = await this.#get(service, '/openapi/v3', signal)
    if (status === 404) return {}
    if (status !== 200) throw new Error(`could not get list of group versions for APIService: ${status}`)
    const { value } = readJson(body)
    const paths = isObject(value) && isObject(value.paths) ? value.paths : {}
    const v3 = new Map<string, string>()
    // Only its own: no server may replace the documents of another.
    for (const name of [`apis/${service.group}`, `apis/${service.group}/${service.version}`]) {
      const entry = Object.hasOwn(paths, name) ? paths[name] : undefined
      const url = isObject(entry) ? entry.serverRelativeURL : undefined
      if (typeof url === 'string' && url.startsWith(`/openapi/v3/${name}`)) v3.set(name, url)
    }
    return { v3 }
  }

  #get({ server }: RemoteApiService, path: string, signal: AbortSignal, etag?: string) {
    const resolved = this.#ports.servers.resolve(server)
    if (!resolved.found) throw new Error(resolved.reason)
    const request = {
      address: resolved.address,
      path,
      user,
      timeout,
      limit,
      accept: 'application/json',
      etag,
      signal,
    }
    return fetchDocument(this.#ports, server, request)
  }

  #publish(): void {
    const all = [...this.#fetched.values()].sort((a, b) => compareRanks(a.rank, b.rank))
    const specs = all.flatMap(({ v2 }) => (v2 ? [v2] : []))
    if (specs.length !== this.#specs.length || specs.some((spec, i) => spec !== this.#specs[i]))
      this.#specs = specs
    const documents = new Map(all.toReversed().flatMap(({ v3 }) => [...(v3 ?? [])]))
    const isSame =
      documents.size === this.#documents.size &&
      [...documents].every(([name, url]) => this.#documents.get(name) === url)
    if (!isSame) this.#documents = documents
  }
}

function isSameServer(present: ApiService | undefined, before: RemoteApiService): boolean {
  return (
    present?.server?.name === before.server.name &&
    present.server.namespace === before.server.namespace &&
    present.server.port === before.server.port
  )
}

function compareRanks(a: Ranked, b: Ranked): number {
  if (a.group === b.group) return b.versionPriority - a.versionPriority || (a.version < b.version ? -1 : 1)
  return b.groupPriority - a.groupPriority || (a.group < b.group ? -1 : 1)
}
