import { isObject, type JsonObject } from '@coxswain/apimachinery/json'
import type { Clock, Random } from '@coxswain/kit'
import { describeFault } from '../fault.ts'
import type { RunLog } from './run-log.ts'

/** A request to an outside service. */
export interface ServiceRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Its response. */
export interface ServiceResponse {
  readonly status: number
  readonly body?: unknown
}

/** An outside service of the author: what a host answers. */
export type ServiceHandler = (request: ServiceRequest) => Promise<ServiceResponse> | ServiceResponse

export interface OutsideServicesOptions {
  readonly log: RunLog
  readonly clock: Clock
  readonly random: Random
}

/** The network outside of the cluster: hosts that the author serves, and a stand-in for every other one. */
export class OutsideServices {
  readonly #options: OutsideServicesOptions
  readonly #handlers = new Map<string, ServiceHandler>()
  readonly #standIns = new Map<string, StandIn>()

  constructor(options: OutsideServicesOptions) {
    this.#options = options
  }

  serve(host: string, handler: ServiceHandler): void {
    this.#handlers.set(host, handler)
  }

  /** What a request is answered; rejects as `fetch` does when the service cannot be reached. */
  async send(request: ServiceRequest, signal: AbortSignal): Promise<ServiceResponse> {
    const { log, clock, random } = this.#options
    const call = ++log.calls
    const [fault] = log.strike(each => each.fault === 'service' && each.call === call)
    if (fault) log.note(describeFault(fault, String))
    const how = fault?.fault === 'service' ? fault.how : undefined
    await clock.sleep(1 + random.below(5), { signal })
    if (how === 'refuse') throw new TypeError('fetch failed')
    if (how === 'hang') await aborted(signal)
    if (how === 'fail') return { status: 500, body: { message: 'the service failed' } }
    const response = await this.#answer(request)
    log.trace.push({
      entry: 'service',
      time: log.time,
      text: `${request.method} ${request.url.href}, ${response.status}`,
    })
    await clock.sleep(1 + random.below(5), { signal })
    if (how === 'lose-response') throw new TypeError('fetch failed')
    return response
  }

  /** What the stand-ins hold, by `service HOST PATH`. */
  contents(): { readonly key: string; readonly value: unknown }[] {
    return [...this.#standIns].flatMap(([host, standIn]) =>
      standIn.contents().map(({ path, value }) => ({ key: `service ${host}${path}`, value })),
    )
  }

  async #answer(request: ServiceRequest): Promise<ServiceResponse> {
    const { host, hostname } = request.url
    const handler = this.#handlers.get(host) ?? this.#handlers.get(hostname)
    if (handler) return await handler(request)
    const standIn = this.#standIns.get(host) ?? new StandIn()
    this.#standIns.set(host, standIn)
    return standIn.answer(request)
  }
}

/** A REST store of what was put, posted and deleted. */
class StandIn {
  readonly #items = new Map<string, { readonly value: unknown; readonly isPosted: boolean }>()
  #posted = 0

  answer({ method, url, body }: ServiceRequest): ServiceResponse {
    const path = url.pathname.replace(/\/+$/, '')
    const present = this.#items.get(path)
    switch (method) {
      case 'GET':
      case 'HEAD':
        return present ? { status: 200, body: present.value } : this.#list(path, url.searchParams)
      case 'PUT':
        this.#items.set(path, { value: read(body), isPosted: present?.isPosted ?? false })
        return { status: present ? 200 : 201, body: this.#items.get(path)?.value }
      case 'PATCH': {
        if (!present) return missing
        const value = { ...(present.value as object), ...(read(body) as object) }
        this.#items.set(path, { ...present, value })
        return { status: 200, body: value }
      }
      case 'POST': {
        const id = `id-${++this.#posted}`
        const given = read(body)
        const value = isObject(given) ? { ...(given as JsonObject), id } : { id, value: given }
        this.#items.set(`${path}/${id}`, { value, isPosted: true })
        return { status: 201, body: value }
      }
      case 'DELETE':
        return this.#items.delete(path) ? { status: 204 } : missing
      default:
        return { status: 405 }
    }
  }

  contents(): { readonly path: string; readonly value: unknown }[] {
    return [...this.#items].map(([path, { value, isPosted }]) => {
      if (!isPosted || !isObject(value)) return { path, value }
      const { id: _, ...rest } = value as JsonObject
      return { path: path.replace(/[^/]+$/, '*'), value: rest }
    })
  }

  /** The members of a collection that have the values of the query. */
  #list(path: string, query: URLSearchParams): ServiceResponse {
    const members = [...this.#items].filter(
      ([each, { value }]) =>
        each.startsWith(`${path}/`) &&
        [...query].every(
          ([name, wanted]) => !isObject(value) || String((value as JsonObject)[name]) === wanted,
        ),
    )
    if (
      members.length === 0 &&
      query.size === 0 &&
      ![...this.#items.keys()].some(each => each.startsWith(`${path}/`))
    )
      return missing
    const items = members.map(([, { value }]) => value)
    return { status: 200, body: { items, [path.split('/').at(-1) ?? 'items']: items } }
  }
}

const missing: ServiceResponse = { status: 404, body: { message: 'not found' } }

function read(body: string): unknown {
  if (body === '') return {}
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
