import type { JsonObject } from '@coxswain/apimachinery/json'
import { decodeBase64Text } from '@coxswain/kit'
import { listOf, numberOf, objectOf, textOf } from '@coxswain/strategies'
import { CachedView, type ViewPorts } from '../cache/cached-view.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import { type Ranked, sortByPriority } from '../discovery/group-order.ts'
import type { Target } from '../outbound/outbound.ts'

export const apiServicesPrefix = '/apiregistration.k8s.io/apiservices/'

/** The APIService of the core group, which stands for everything below `/api`. */
export const coreApiService = 'v1.'

/** An APIService: where a group and version is served. */
export interface ApiService extends Ranked {
  readonly name: string
  /** Whether its condition `Available` is true. */
  readonly isAvailable: boolean
  /** The server behind its Service; undefined for groups that this server has itself. */
  readonly server?: ExtensionServer
}

/** How an extension API server is reached. */
export interface ExtensionServer {
  readonly namespace: string
  readonly name: string
  readonly port: number
  /** PEM. @default the platform's */
  readonly ca?: string | undefined
  readonly insecure: boolean
  /** By address; filled on use. */
  readonly targets: Map<string, Target>
}

/** An APIService that leads to another server. */
export type RemoteApiService = ApiService & { readonly server: ExtensionServer }

export function isRemote(service: ApiService): service is RemoteApiService {
  return service.server !== undefined
}

interface View {
  /** In the order of discovery: by group, then by version. */
  readonly all: readonly ApiService[]
  readonly byName: ReadonlyMap<string, ApiService>
  /** By `GROUP/VERSION`; `/v1` is the core group. */
  readonly remote: ReadonlyMap<string, RemoteApiService>
}

/** The stored APIServices. */
export class ApiServices {
  readonly #view: CachedView<View>
  /** A change of one does not parse the others again, nor forget how their servers were reached. */
  readonly #parsed = new WeakMap<StoredObject, ApiService>()

  constructor(ports: ViewPorts) {
    const stored = ports.cache.resource(apiServicesPrefix)
    this.#view = new CachedView(ports, [apiServicesPrefix], () => this.#read(stored.list()))
  }

  /** Changes with every write of an APIService, and only then (or when the served resources change). */
  get all(): readonly ApiService[] {
    return this.#view.value.all
  }

  get(name: string): ApiService | undefined {
    return this.#view.value.byName.get(name)
  }

  /** The APIService that a path belongs to, if it leads to another server. */
  findRemote(segments: readonly string[]): RemoteApiService | undefined {
    const { remote } = this.#view.value
    if (remote.size === 0) return undefined
    const [root, group, version] = segments
    if (root === 'api') return remote.get('/v1')
    return root === 'apis' && version !== undefined ? remote.get(`${group}/${version}`) : undefined
  }

  #read(stored: readonly StoredObject[]): View {
    const services = stored.map(one => {
      let parsed = this.#parsed.get(one)
      if (!parsed) {
        parsed = readApiService(one.parse())
        this.#parsed.set(one, parsed)
      }
      return parsed
    })
    return {
      all: sortByPriority(services),
      byName: new Map(services.map(service => [service.name, service])),
      remote: new Map(
        services.filter(isRemote).map(service => [`${service.group}/${service.version}`, service]),
      ),
    }
  }
}

export function readApiService(object: JsonObject): ApiService {
  const spec = objectOf(object.spec)
  const service = spec.service === undefined || spec.service === null ? undefined : objectOf(spec.service)
  const bundle = textOf(spec.caBundle)
  return {
    name: textOf(objectOf(object.metadata).name),
    group: textOf(spec.group),
    version: textOf(spec.version),
    groupPriority: numberOf(spec.groupPriorityMinimum),
    versionPriority: numberOf(spec.versionPriority),
    isAvailable: availabilityOf(object)?.status === 'True',
    ...(service && {
      server: {
        namespace: textOf(service.namespace),
        name: textOf(service.name),
        port: numberOf(service.port),
        ca: bundle === '' ? undefined : decodeBase64Text(bundle),
        insecure: spec.insecureSkipTLSVerify === true,
        targets: new Map(),
      },
    }),
  }
}

/** The condition `Available`. */
export function availabilityOf({ status }: JsonObject): JsonObject | undefined {
  return listOf(objectOf(status).conditions).find(({ type }) => type === 'Available')
}
