import type { Clock } from '@coxswain/kit'
import type { ProxyEndpoint } from './proxy-rules.ts'

/** Clients that are remembered at most; the one that was not seen for the longest time is forgotten first. */
const maxSessions = 10_000

interface Session {
  readonly endpoint: string
  readonly until: number
}

/** Says which endpoint of a Service's port is next: in turn, and the same again for a client that is to keep its own. */
export class Balancer {
  readonly #clock: Clock
  /** By client, those that were seen last at the end. */
  readonly #sessions = new Map<string, Session>()
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** All of `endpoints`, in the order in which they are to be tried for `client`. */
  order(endpoints: readonly ProxyEndpoint[], client: string, affinity?: number): readonly ProxyEndpoint[] {
    const session = affinity === undefined ? undefined : this.#sessions.get(client)
    const isKept = session !== undefined && this.#clock.monotonic() < session.until
    const kept = isKept ? endpoints.findIndex(({ id }) => id === session.endpoint) : -1
    const first = kept >= 0 ? kept : this.#turn++ % Math.max(1, endpoints.length)
    return [...endpoints.slice(first), ...endpoints.slice(0, first)]
  }

  /** A connection of `client` has got to `endpoint`. */
  remember(client: string, endpoint: ProxyEndpoint, affinity: number): void {
    const now = this.#clock.monotonic()
    this.#sessions.delete(client)
    this.#sessions.set(client, { endpoint: endpoint.id, until: now + affinity })
    for (const [oldest, { until }] of this.#sessions) {
      if (until > now && this.#sessions.size <= maxSessions) break
      this.#sessions.delete(oldest)
    }
  }
}
