import type { ForeignOpenApiV2, VersionDiscovery } from '@coxswain/api'
import type { Env } from '@coxswain/kit'
import type { MetricsRegistry } from '@coxswain/kit/metrics'
import type { AggregatedApis } from '../discovery/documents.ts'
import type { Ranked } from '../discovery/group-order.ts'
import type { Dialer } from '../nodes/dialer.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Next } from '../request/filter.ts'
import { ApiServices, type RemoteApiService } from './api-services.ts'
import { createAvailabilityLoop } from './availability.ts'
import { RemoteDiscovery } from './discovery.ts'
import { ExtensionServers, type ProxyClient } from './extension-servers.ts'
import { RemoteOpenApi } from './openapi.ts'
import { proxyRequest } from './proxy.ts'
import { Registration, type RegistrationPorts } from './registration.ts'

export interface AggregatorPorts extends RegistrationPorts {
  readonly env: Env
  readonly outbound: Outbound
  readonly dialer: Dialer
  readonly metrics: MetricsRegistry
  readonly proxyClient: () => ProxyClient | undefined
}

/**
 * Aggregation: API groups that other servers serve, behind this one. An APIService says which Service a group and version leads to;
 * requests for it are passed on, and discovery and OpenAPI show it beside this server's own groups.
 */
export class Aggregator implements AggregatedApis, AsyncDisposable {
  readonly #ports: AggregatorPorts
  readonly #services: ApiServices
  readonly #servers: ExtensionServers
  readonly #registration: Registration
  readonly #discovery: RemoteDiscovery
  readonly #openApi: RemoteOpenApi

  constructor(ports: AggregatorPorts) {
    const { env, cache } = ports
    this.#ports = ports
    const services = new ApiServices(ports)
    const servers = new ExtensionServers(ports)
    this.#services = services
    this.#servers = servers
    this.#registration = new Registration(ports)
    this.#discovery = new RemoteDiscovery({ env, cache, services, servers })
    this.#openApi = new RemoteOpenApi({ env, cache, services, servers })
  }

  get services(): readonly Ranked[] {
    return this.#services.all
  }

  get versions(): ReadonlyMap<string, VersionDiscovery> {
    return this.#discovery.versions
  }

  get specs(): readonly ForeignOpenApiV2[] {
    return this.#openApi.specs
  }

  get documents(): ReadonlyMap<string, string> {
    return this.#openApi.documents
  }

  findDocument(name: string): Next | undefined {
    return this.#delegateTo(this.#openApi.ownerOf(name))
  }

  /** The handler of requests with this path, if they belong to another server. */
  findDelegate(segments: readonly string[]): Next | undefined {
    return this.#delegateTo(this.#services.findRemote(segments))
  }

  /** Whether requests with this path belong to another server: bodies are passed on as they arrive. */
  isDelegated(segments: readonly string[]): boolean {
    return this.#services.findRemote(segments) !== undefined
  }

  /** Creates and repairs the APIServices of built-in groups. For the start, before the server is ready. */
  async start(): Promise<void> {
    await this.#registration.registerBuiltins()
  }

  /** What has to run while the server does. Call it when the resources are registered. */
  loops(): { run(signal: AbortSignal): Promise<void> }[] {
    const services = this.#services
    const servers = this.#servers
    return [
      this.#registration,
      createAvailabilityLoop({ ...this.#ports, services, servers }),
      this.#discovery,
      this.#openApi,
    ]
  }

  #delegateTo(service: RemoteApiService | undefined): Next | undefined {
    if (!service) return undefined
    const ports = { env: this.#ports.env, servers: this.#servers }
    return context => proxyRequest(ports, service, context)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers[Symbol.asyncDispose]()
  }
}
