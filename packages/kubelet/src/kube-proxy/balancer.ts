import type { Clock } from '@coxswain/kit'
import type { ProxyEndpoint } from './proxy-rules.ts'

/** The most clients that are remembered; the least recently seen is forgotten first. */
const maxSessions = 10_000

interface Session {
  readonly endpoint: string
  readonly until: number
}

/** Picks the next endpoint of a Service's port: round robin, or the same again for a client with session affinity. */
export class Balancer {
  readonly #clock: Clock
  /** By client, the most recently seen last. */
  readonly #sessions = new Map<string, Session>()
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** All of `endpoints`, in the order in which to try them for `client`. */
  order(endpoints: readonly ProxyEndpoint[], client: string, affinity?: number): readonly ProxyEndpoint[] {
    const session = affinity === undefined ? undefined : this.#sessions.get(client)
    const isKept = session !== undefined && this.#clock.monotonic() < session.until
    const kept = isKept ? endpoints.findIndex(({ id }) => id === session.endpoint) : -1
    const first = kept >= 0 ? kept : this.#turn++ % Math.max(1, endpoints.length)
    return [...endpoints.slice(first), ...endpoints.slice(0, first)]
  }

  /** Records that `client` is connected to `endpoint`. */
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
