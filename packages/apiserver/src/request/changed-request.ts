import type { PeerCertificate, WireHeaders, WireRequest } from '@coxswain/wire'

/** What is different about a request, apart from its headers. */
type Bodies = Pick<WireRequest, 'body' | 'bodyTooLarge' | 'bodyStream' | 'receiveBody'>

/** A request with other headers, or another body. A class, since objects that have getters of their own are slow. */
export class ChangedRequest implements WireRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: WireHeaders
  declare readonly body?: Uint8Array
  declare readonly bodyTooLarge?: boolean
  declare readonly bodyStream?: AsyncIterable<Uint8Array>
  declare readonly receiveBody?: NonNullable<WireRequest['receiveBody']>
  declare readonly peer?: PeerCertificate
  declare readonly peerError?: string
  declare readonly remoteAddress?: string
  readonly #original: WireRequest

  constructor(original: WireRequest, headers: WireHeaders, bodies: Bodies) {
    this.#original = original
    this.method = original.method
    this.path = original.path
    this.query = original.query
    this.headers = headers
    if (original.remoteAddress !== undefined) this.remoteAddress = original.remoteAddress
    if (original.peer) this.peer = original.peer
    if (original.peerError !== undefined) this.peerError = original.peerError
    if (bodies.body) this.body = bodies.body
    if (bodies.bodyTooLarge) this.bodyTooLarge = true
    if (bodies.bodyStream) this.bodyStream = bodies.bodyStream
    if (bodies.receiveBody) this.receiveBody = bodies.receiveBody
  }

  /** A request from a socket creates its signal on first use. */
  get signal(): AbortSignal {
    return this.#original.signal
  }
}
