import { TransportError } from '../../errors.ts'
import type { PeerCertificate, WireHeaders, WireRequest } from '../../message.ts'

/** What all requests of a connection share. */
export interface ConnectionInfo {
  readonly peer: PeerCertificate | undefined
  readonly peerError: string | undefined
  readonly remoteAddress: string
}

/** The body when the handler is called; the handler reads a stream, and a deferred body on request. */
export type ReceivedBody =
  | Uint8Array
  | 'too large'
  | AsyncIterable<Uint8Array>
  | NonNullable<WireRequest['receiveBody']>

/** The parts of a request target. */
export interface Target {
  readonly path: string
  readonly query: string
}

/**
 * A request from a socket. Its signal is created on first use: most requests are answered before it is
 * read, and an AbortController costs more than the rest of the record.
 */
export class ReceivedRequest implements WireRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: WireHeaders
  readonly remoteAddress: string
  declare readonly peer?: PeerCertificate
  declare readonly peerError?: string
  declare readonly body?: Uint8Array
  declare readonly bodyTooLarge?: boolean
  declare readonly bodyStream?: AsyncIterable<Uint8Array>
  declare readonly receiveBody?: NonNullable<WireRequest['receiveBody']>
  #controller: AbortController | undefined
  #aborted = false

  constructor(
    method: string,
    target: Target,
    headers: WireHeaders,
    connection: ConnectionInfo,
    body: ReceivedBody | undefined,
  ) {
    this.method = method
    this.path = target.path
    this.query = target.query
    this.headers = headers
    this.remoteAddress = connection.remoteAddress
    if (connection.peer) this.peer = connection.peer
    if (connection.peerError !== undefined) this.peerError = connection.peerError
    if (body === 'too large') this.bodyTooLarge = true
    else if (body instanceof Uint8Array) this.body = body
    else if (typeof body === 'function') this.receiveBody = body
    else if (body) this.bodyStream = body
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(clientGone())
    }
    return this.#controller.signal
  }

  /** The client no longer waits for the response. */
  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#controller?.abort(clientGone())
  }
}

export function clientGone(): TransportError {
  return new TransportError('ConnectionLost', 'the client has disconnected')
}

const badEscape = /%(?![0-9a-fA-F]{2})/

/**
 * Splits a request target, in origin form (`/path?query`) or absolute form (`https://host/path`, as for proxies).
 * Nothing is resolved or decoded. Undefined for anything else, and when an escape is malformed, as in Go.
 */
export function parseTarget(target: string): Target | undefined {
  let origin = target
  if (target.charCodeAt(0) !== 0x2f) {
    const match = /^https?:\/\/[^/?#]+(.*)$/i.exec(target)
    if (!match) return undefined
    origin = match[1]!.startsWith('/') ? match[1]! : `/${match[1]}`
  }
  const at = origin.indexOf('?')
  const path = at < 0 ? origin : origin.slice(0, at)
  if (path.includes('%') && badEscape.test(path)) return undefined
  return { path, query: at < 0 ? '' : origin.slice(at + 1) }
}

/** Headers whose repeated values must not be joined to a list. */
function isSeparate(name: string): boolean {
  return name.startsWith('impersonate-') || name.startsWith('x-remote-')
}

/** Headers of which the first value counts, as in Go's `Header.Get`. */
const single = new Set([
  'authorization',
  'content-type',
  'content-length',
  'host',
  'user-agent',
  'if-match',
  'if-none-match',
])

/** Headers from their raw form (name, value, name, value, ...). Undefined when there is more than one Host. */
export function collectHeaders(raw: readonly string[]): WireHeaders | undefined {
  const headers: Record<string, string | string[]> = Object.create(null)
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    const value = raw[i + 1]!
    const held = headers[name]
    if (held === undefined) headers[name] = value
    else if (name === 'host') return undefined
    else if (single.has(name)) continue
    else if (typeof held === 'object') held.push(value)
    else headers[name] = isSeparate(name) ? [held, value] : `${held}, ${value}`
  }
  return headers
}

/** Splits what `node:http2` joined with commas, where it matters. */
export function separateHeaders(headers: Record<string, unknown>, raw: readonly string[]): WireHeaders {
  for (let i = 0; i < raw.length; i += 2) {
    const first = raw[i]!.charCodeAt(0)
    if ((first === 0x69 || first === 0x78) && isSeparate(raw[i]!)) return collectHeaders(raw) ?? {}
  }
  return headers as WireHeaders
}
