import type { Env } from '@coxswain/kit'
import type { WireRequest, WireResponse } from '@coxswain/wire'
import { CachedView } from '../cache/cached-view.ts'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Dialer } from '../nodes/dialer.ts'
import type { Backend } from '../nodes/proxy/backend.ts'
import { describeFailure } from '../outbound/go-errors.ts'
import type { Outbound, Target } from '../outbound/outbound.ts'
import {
  chooseAddress,
  findServiceAddresses,
  type ServiceAddress,
  type ServiceAddresses,
} from '../outbound/service-address.ts'
import { TransportPool } from '../outbound/transport-pool.ts'
import type { ExtensionServer } from './api-services.ts'

/** The certificate with which the API server identifies itself as a front proxy: PEM. */
export interface ProxyClient {
  readonly cert: string
  readonly key: string
}

export interface ExtensionServerPorts {
  readonly env: Env
  readonly cache: WatchCache
  readonly registry: { readonly generation: number }
  readonly outbound: Outbound
  readonly dialer: Dialer
  /** Called for every new target. Without a certificate, extension API servers treat requests as anonymous. */
  readonly proxyClient: () => ProxyClient | undefined
}

/** What a Service resolves to changes with these. */
const endpointPrefixes = ['/core/services/', '/discovery.k8s.io/endpointslices/', '/core/endpoints/']

/** How many addresses of one server are remembered. */
const addressLimit = 64

/** A response, and the end of its exchange. */
export interface Sent {
  readonly response: WireResponse
  release(): void
}

/** Reaches extension API servers through their Services. */
export class ExtensionServers implements AsyncDisposable {
  readonly #ports: ExtensionServerPorts
  readonly #pool: TransportPool
  /** By namespace, name and port. */
  readonly #addresses: CachedView<Map<string, ServiceAddresses>>

  constructor(ports: ExtensionServerPorts) {
    this.#ports = ports
    this.#pool = new TransportPool(ports.env, ports.outbound)
    this.#addresses = new CachedView(ports, endpointPrefixes, () => new Map())
  }

  /** One of the addresses of the server. */
  resolve({ namespace, name, port }: ExtensionServer): ServiceAddress {
    const { cache, env } = this.#ports
    const known = this.#addresses.value
    const key = `${namespace}/${name}:${port}`
    let addresses = known.get(key)
    if (!addresses) {
      addresses = findServiceAddresses(cache, { namespace, name, port })
      known.set(key, addresses)
    }
    return chooseAddress(addresses, env.random)
  }

  /**
   * Sends a request to `address` and resolves with the head of the response, whose body has to be read or discarded before `release` is
   * called. Rejects as transports do. A request that the server may have seen is never sent again.
   */
  async send(server: ExtensionServer, address: string, request: WireRequest): Promise<Sent> {
    const { transport, release } = this.#pool.take(this.#targetOf(server, address))
    try {
      return { response: await transport.send(request), release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** A connection of its own to `address`, for an upgrade. */
  backend(server: ExtensionServer, address: string): Backend {
    const at = address.lastIndexOf(':')
    const host = address.slice(0, at).replace(/^\[|\]$/g, '')
    const { origin: _, ...tls } = this.#targetOf(server, address)
    const dial = () => this.#ports.dialer.connect(host, Number(address.slice(at + 1)), tls)
    return { host: address, scheme: 'https', dial }
  }

  /** Why there was no response, in the words of Go's HTTP client. */
  explain({ name, namespace }: ExtensionServer, address: string, error: unknown): string {
    return describeFailure(error, address, `${name}.${namespace}.svc`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]()
  }

  #targetOf({ name, namespace, ca, insecure, targets }: ExtensionServer, address: string): Target {
    const { cert, key } = this.#ports.proxyClient() ?? {}
    const known = targets.get(address)
    if (known && known.cert === cert) return known
    if (targets.size >= addressLimit) targets.clear()
    const target: Target = {
      origin: `https://${address}`,
      serverName: `${name}.${namespace}.svc`,
      ...(ca !== undefined && { ca }),
      ...(insecure && { insecure }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
    }
    targets.set(address, target)
    return target
  }
}
