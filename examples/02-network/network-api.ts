/**
 * The outside API as the operator needs it, and its client over HTTP. Tests put `NetworkInventory` of
 * `network-service.ts` in its place, which has the same rules without the HTTP.
 */

/** A network outside of the cluster. */
export interface OutsideNetwork {
  readonly id: string
  /** Who it was made for. There is at most one network of an owner. */
  readonly owner: string
  readonly name: string
  readonly cidr: string
  readonly gateway: string
}

export type NetworkSettings = Pick<OutsideNetwork, 'name' | 'cidr' | 'gateway'>

export interface NetworkApi {
  /** The network of an owner; undefined when there is none. */
  find(owner: string, signal?: AbortSignal): Promise<OutsideNetwork | undefined>
  /** @throws NetworkApiError `Conflict` when the owner has one already */
  create(owner: string, settings: NetworkSettings, signal?: AbortSignal): Promise<OutsideNetwork>
  /** @throws NetworkApiError `NotFound` */
  update(id: string, settings: NetworkSettings, signal?: AbortSignal): Promise<OutsideNetwork>
  /** Deleting what is not there is fine. */
  delete(id: string, signal?: AbortSignal): Promise<void>
}

export type NetworkApiErrorCode =
  /** It cannot be reached, or is broken: try again later. */
  | 'Unavailable'
  /** It will never do what was asked for. */
  | 'Refused'
  | 'Conflict'
  | 'NotFound'

export class NetworkApiError extends Error {
  readonly code: NetworkApiErrorCode

  constructor(code: NetworkApiErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NetworkApiError'
    this.code = code
  }
}

const codes: Readonly<Record<number, NetworkApiErrorCode>> = {
  400: 'Refused',
  404: 'NotFound',
  409: 'Conflict',
}

/** How long the outside may take to answer. */
const patience = 5_000

/** The API of `network-service.ts` over HTTP. */
export function createHttpNetworkApi(url: string): NetworkApi {
  const call = async (
    method: string,
    path: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<unknown> => {
    const timeout = AbortSignal.timeout(patience)
    let response: Response
    let text: string
    try {
      response = await fetch(`${url}/v2.0/networks${path}`, {
        method,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      text = await response.text()
    } catch (cause) {
      signal?.throwIfAborted()
      throw new NetworkApiError('Unavailable', `the network API at ${url} does not answer`, { cause })
    }
    if (response.ok) return text === '' ? undefined : JSON.parse(text)
    throw new NetworkApiError(codes[response.status] ?? 'Unavailable', messageOf(text, response.status))
  }
  return {
    async find(owner, signal) {
      const query = `?${new URLSearchParams({ owner })}`
      const { networks } = (await call('GET', query, undefined, signal)) as { networks: OutsideNetwork[] }
      return networks[0]
    },
    async create(owner, settings, signal) {
      return (await call('POST', '', { owner, ...settings }, signal)) as OutsideNetwork
    },
    async update(id, settings, signal) {
      return (await call('PUT', `/${encodeURIComponent(id)}`, settings, signal)) as OutsideNetwork
    },
    async delete(id, signal) {
      await call('DELETE', `/${encodeURIComponent(id)}`, undefined, signal).catch((error: unknown) => {
        if (!(error instanceof NetworkApiError && error.code === 'NotFound')) throw error
      })
    },
  }
}

function messageOf(text: string, status: number): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    if (typeof message === 'string') return message
  } catch {
    // not one of its own answers
  }
  return `the network API answered ${status}`
}
