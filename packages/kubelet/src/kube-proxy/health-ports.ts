import type { Service } from '@coxswain/api/core/v1'
import type { EndpointSlice } from '@coxswain/api/discovery/v1'
import type { DeepReadonly } from '@coxswain/apimachinery/meta'
import type { Audience } from './listeners.ts'
import { type Machine, nodePortHost } from './proxy-rules.ts'
import type { HealthAnswer, OpenSocket, ServiceSockets } from './service-sockets.ts'

/** A port at which load balancers ask whether a Service has endpoints on this machine. */
export interface HealthCheck {
  readonly service: DeepReadonly<Service>
  readonly port: number
  readonly localEndpoints: number
}

/** Undefined for a Service that has no such port. */
export function makeHealthCheck(
  service: DeepReadonly<Service>,
  slices: readonly DeepReadonly<EndpointSlice>[],
  { nodes }: Machine,
): HealthCheck | undefined {
  const { type, externalTrafficPolicy, healthCheckNodePort: port } = service.spec ?? {}
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || !port) return undefined
  const local = slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ nodeName, conditions }) => nodes.has(nodeName ?? '') && (conditions?.ready ?? true))
  const addresses = new Set(local.map(({ addresses: [address] }) => address))
  return { service, port, localEndpoints: addresses.size }
}

interface HealthPort {
  check: HealthCheck
  /** Undefined when it could not be opened: it is not retried before the Service changes its port. */
  readonly socket: OpenSocket | undefined
}

/** Keeps the health-check node ports of Services open. */
export class HealthPorts {
  readonly #sockets: ServiceSockets
  readonly #ports = new Map<number, HealthPort>()

  constructor(sockets: ServiceSockets) {
    this.#sockets = sockets
  }

  async sync(checks: readonly HealthCheck[], { events }: Audience): Promise<void> {
    const wanted = new Map(checks.map(check => [check.port, check]))
    for (const [port, { socket }] of this.#ports) {
      if (wanted.has(port)) continue
      this.#ports.delete(port)
      await socket?.close()
    }
    for (const [port, check] of wanted) {
      const known = this.#ports.get(port)
      if (known) {
        known.check = check
        continue
      }
      const answer = () => answerTo(this.#ports.get(port)?.check ?? check)
      const result = await this.#sockets.serveHealth?.({ host: nodePortHost, port }, answer)
      this.#ports.set(port, { check, socket: result?.opened ? result.socket : undefined })
      if (result && !result.opened)
        events.warning(check.service, 'FailedToStartServiceHealthcheck', result.message)
    }
  }
}

function answerTo({ service, localEndpoints }: HealthCheck): HealthAnswer {
  const { namespace = '', name } = service.metadata
  const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: true }
  return {
    status: localEndpoints > 0 ? 200 : 503,
    headers: {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-load-balancing-endpoint-weight': String(localEndpoints),
    },
    body: JSON.stringify(body, undefined, '\t'),
  }
}
