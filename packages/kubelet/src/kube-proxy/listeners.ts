import { type Clock, type Logger, minOf } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import { Balancer } from './balancer.ts'
import type { ProxyRule } from './proxy-rules.ts'
import type { EndpointPicker, OpenSocket, ServiceSockets } from './service-sockets.ts'

/** Milliseconds after which a port that another process has is retried. */
const retryTaken = 5_000
/** Milliseconds between checks of a port that a Pod is about to listen on. */
const retryRival = 1_000

interface Listener {
  /** The newest rule: connections are balanced over its endpoints. */
  rule: ProxyRule
  socket: OpenSocket | undefined
  /** The Pods that may listen on the same port, as of when it was opened. */
  rivals: ReadonlySet<string>
  /** When to try to open it next. */
  tryAt: number
  /** The last reported problem. */
  reported: string | undefined
}

/** Where problems are reported. */
export interface Audience {
  readonly events: EventRecorder
  readonly log: Logger
}

const noPods: ReadonlySet<string> = new Set()

/**
 * Keeps one socket open for each rule.
 *
 * A Pod shares the machine's network: it cannot listen on all addresses while a Service has the port on
 * one. So a port that Pods may use is opened only once a process listens on it. If that process listens on all addresses,
 * opening fails, and connections to the Service reach the Pod directly.
 */
export class Listeners {
  readonly #sockets: ServiceSockets
  readonly #clock: Clock
  readonly #hasEnded: () => boolean
  readonly #listeners = new Map<string, Listener>()
  /** By Service port. */
  readonly #balancers = new Map<string, Balancer>()
  #saidNoAddress = false

  constructor(sockets: ServiceSockets, clock: Clock, hasEnded: () => boolean) {
    this.#sockets = sockets
    this.#clock = clock
    this.#hasEnded = hasEnded
  }

  /**
   * Opens and closes sockets to match `rules`. `rivals` are the Pods that may listen on a port, by protocol
   * and port. Resolves with the milliseconds after which to call it again.
   */
  async sync(
    rules: ReadonlyMap<string, ProxyRule>,
    rivals: ReadonlyMap<string, ReadonlySet<string>>,
    audience: Audience,
  ): Promise<number | undefined> {
    for (const [id, listener] of this.#listeners) {
      if (rules.has(id)) continue
      this.#listeners.delete(id)
      if (!listener.socket) continue
      await listener.socket.close()
      audience.log.info('closed a Service port', { service: listener.rule.servicePort, port: id })
    }
    this.#forgetBalancers(rules)
    for (const [id, rule] of rules) {
      let listener = this.#listeners.get(id)
      if (!listener) {
        listener = { rule, socket: undefined, rivals: noPods, tryAt: 0, reported: undefined }
        this.#listeners.set(id, listener)
      }
      listener.rule = rule
      const wanting = rivals.get(`${rule.protocol} ${rule.port}`) ?? noPods
      if (listener.socket && !wanting.isSubsetOf(listener.rivals)) {
        await listener.socket.close()
        listener.socket = undefined
        listener.tryAt = 0
      }
      listener.rivals = wanting
      if (!listener.socket && listener.tryAt <= this.#clock.monotonic()) await this.#open(listener, audience)
    }
    const waiting = [...this.#listeners.values()].filter(({ socket }) => !socket)
    const next = minOf(waiting.map(({ tryAt }) => tryAt))
    return Number.isFinite(next) ? Math.max(0, next - this.#clock.monotonic()) : undefined
  }

  async #open(listener: Listener, audience: Audience): Promise<void> {
    const { rule, rivals } = listener
    const { protocol, host, port } = rule
    if (rivals.size > 0 && !(await this.#sockets.isTaken(protocol, port))) {
      listener.tryAt = this.#clock.monotonic() + retryRival
      if (listener.reported === undefined)
        audience.log.info('a Service port waits for the Pod that may listen on it', { host, port })
      listener.reported ??= 'waiting'
      return
    }
    if (this.#hasEnded()) return
    const result = await this.#sockets.open({ protocol, host, port }, this.#pickerOf(listener))
    if (this.#hasEnded()) return
    if (result.opened) {
      listener.socket = result.socket
      listener.reported = undefined
      const endpoints = rule.endpoints.map(({ id }) => id)
      audience.log.info('opened a Service port', { service: rule.servicePort, host, port, endpoints })
      return
    }
    const { problem, message } = result
    const mayChange = problem === 'taken' || problem === 'failed'
    listener.tryAt = mayChange ? this.#clock.monotonic() + retryTaken : Number.POSITIVE_INFINITY
    if (problem === 'no address') {
      if (!this.#saidNoAddress)
        audience.log.warn('cluster IPs are not reachable: this machine lacks loopback addresses', { message })
      this.#saidNoAddress = true
      return
    }
    // The Service's own Pod has it on all addresses, this one included.
    const isOwn = rule.endpoints.some(endpoint => endpoint.isLocal && endpoint.port === port)
    if ((problem === 'taken' && isOwn) || listener.reported === problem) return
    listener.reported = problem
    const text = `can't open port ${protocol.toLowerCase()}/${host}:${port}: ${message}`
    audience.events.warning(rule.service, 'PortUnavailable', mayChange ? `${text}; will retry` : text)
    audience.log[mayChange ? 'warn' : 'info']('a Service port cannot be opened', {
      service: rule.servicePort,
      host,
      port,
      message,
    })
  }

  #pickerOf(listener: Listener): EndpointPicker {
    return {
      candidates: client => {
        const { servicePort, endpoints, affinity } = listener.rule
        let balancer = this.#balancers.get(servicePort)
        if (!balancer) {
          balancer = new Balancer(this.#clock)
          this.#balancers.set(servicePort, balancer)
        }
        return balancer.order(endpoints, client, affinity)
      },
      connected: (client, endpoint) => {
        const { servicePort, affinity } = listener.rule
        if (affinity !== undefined) this.#balancers.get(servicePort)?.remember(client, endpoint, affinity)
      },
      isCurrent: ({ id }) => listener.rule.endpoints.some(endpoint => endpoint.id === id),
    }
  }

  #forgetBalancers(rules: ReadonlyMap<string, ProxyRule>): void {
    const current = new Set([...rules.values()].map(({ servicePort }) => servicePort))
    for (const servicePort of this.#balancers.keys())
      if (!current.has(servicePort)) this.#balancers.delete(servicePort)
  }
}
