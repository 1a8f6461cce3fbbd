import { type Clock, type Logger, minOf } from '@coxswain/kit'
import type { EventRecorder } from '@coxswain/runtime'
import { Balancer } from './balancer.ts'
import type { ProxyRule } from './proxy-rules.ts'
import type { EndpointPicker, OpenSocket, ServiceSockets } from './service-sockets.ts'

/** After so many milliseconds a port that somebody else has is tried again. */
const retryTaken = 5_000
/** A port that a Pod is about to listen on is looked at so often. */
const retryRival = 1_000

interface Listener {
  /** The newest: connections are balanced over its endpoints. */
  rule: ProxyRule
  socket: OpenSocket | undefined
  /** Pods that may listen on the same port, and were there when it was opened. */
  rivals: ReadonlySet<string>
  /** When it is tried to open it, again. */
  tryAt: number
  /** The problem that people have been told of. */
  told: string | undefined
}

/** Who hears of what cannot be opened. */
export interface Audience {
  readonly events: EventRecorder
  readonly log: Logger
}

const nobody: ReadonlySet<string> = new Set()

/**
 * Keeps one socket open for each rule.
 *
 * A Pod shares the machine's network: where it listens at all addresses, it cannot as long as a Service has that port at
 * one. So a port that Pods may want is opened only when somebody listens on it already. If that was at all addresses, then
 * opening fails, and connections to the Service get to the Pod by themselves.
 */
export class Listeners {
  readonly #sockets: ServiceSockets
  readonly #clock: Clock
  readonly #hasEnded: () => boolean
  readonly #listeners = new Map<string, Listener>()
  /** By the Service's port. */
  readonly #balancers = new Map<string, Balancer>()
  #saidNoAddress = false

  constructor(sockets: ServiceSockets, clock: Clock, hasEnded: () => boolean) {
    this.#sockets = sockets
    this.#clock = clock
    this.#hasEnded = hasEnded
  }

  /**
   * Opens and closes sockets until they are those of `rules`. `rivals` are the Pods that may listen on a port, by protocol
   * and port. Resolves with the milliseconds after which something is to be tried again.
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
      audience.log.info('closed a port of a service', { service: listener.rule.servicePort, port: id })
    }
    this.#forgetBalancers(rules)
    for (const [id, rule] of rules) {
      let listener = this.#listeners.get(id)
      if (!listener) {
        listener = { rule, socket: undefined, rivals: nobody, tryAt: 0, told: undefined }
        this.#listeners.set(id, listener)
      }
      listener.rule = rule
      const wanting = rivals.get(`${rule.protocol} ${rule.port}`) ?? nobody
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
      if (listener.told === undefined)
        audience.log.info('a port of a service waits for the pod that may listen on it', { host, port })
      listener.told ??= 'waiting'
      return
    }
    if (this.#hasEnded()) return
    const result = await this.#sockets.open({ protocol, host, port }, this.#pickerOf(listener))
    if (this.#hasEnded()) return
    if (result.opened) {
      listener.socket = result.socket
      listener.told = undefined
      const endpoints = rule.endpoints.map(({ id }) => id)
      audience.log.info('opened a port of a service', { service: rule.servicePort, host, port, endpoints })
      return
    }
    const { problem, message } = result
    const mayChange = problem === 'taken' || problem === 'failed'
    listener.tryAt = mayChange ? this.#clock.monotonic() + retryTaken : Number.POSITIVE_INFINITY
    if (problem === 'no address') {
      if (!this.#saidNoAddress)
        audience.log.warn('cluster IPs do not answer: this machine lacks loopback addresses', { message })
      this.#saidNoAddress = true
      return
    }
    // The Service's own Pod has it at all addresses, this one included.
    const isOwn = rule.endpoints.some(endpoint => endpoint.isLocal && endpoint.port === port)
    if ((problem === 'taken' && isOwn) || listener.told === problem) return
    listener.told = problem
    const text = `can't open port ${protocol.toLowerCase()}/${host}:${port}: ${message}`
    audience.events.warning(rule.service, 'PortUnavailable', mayChange ? `${text}; it is tried again` : text)
    audience.log[mayChange ? 'warn' : 'info']('a port of a service cannot be opened', {
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
