/** A request as the server sees it and as a client sends it. Owned by the receiver once handed over. */
export interface WireRequest {
  /** Upper case. */
  readonly method: string
  /** As on the wire: still percent-encoded, without the query, never normalised. */
  readonly path: string
  /** What follows the `?`, still encoded; empty when there is none. */
  readonly query: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array
  /** The body was longer than the server takes; it was not kept, and `body` is absent. The answer is a 413. */
  readonly bodyTooLarge?: boolean
  /**
   * The body as it comes, for one reader, where the server was told to pass it on unread; `body` is then absent. It
   * throws when the client breaks off; whoever does not want (the rest of) it calls its `return`, or just answers.
   */
  readonly bodyStream?: AsyncIterable<Uint8Array>
  /**
   * Reads the body, where the server leaves that to the handler (`ServeOptions.defersBodies`): `body` is absent then, and
   * a handler that answers without calling this does not take the body. To be called once. `owner` is whom the bytes are
   * counted for until the request is answered. Rejects when the client breaks off, or is too slow.
   */
  readonly receiveBody?: (owner: string) => Promise<Uint8Array | BodyRefusal>
  /** The certificate the client proved to own, verified against the client CA. Set by the transport alone. */
  readonly peer?: PeerCertificate
  /** Why the certificate that the client showed does not count. The answer is a 401 unless something else proves who it is. */
  readonly peerError?: string
  /** Where the request comes from, for audit and logs: an address without the port. */
  readonly remoteAddress?: string
  /** Aborts when the client goes away or the server stops. */
  readonly signal: AbortSignal
}

/** Why a body was not taken: it is longer than the server allows, or others hold all the memory there is for bodies. */
export type BodyRefusal = 'too large' | 'no room'

/**
 * Names in lower case. A header that came several times is an array only where order and separateness matter. Requests
 * that came over HTTP/2 may have its pseudo headers (`:authority`) among them.
 */
export type WireHeaders = Readonly<Record<string, string | readonly string[]>>

export interface PeerCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** The subject's uid attribute (1.3.6.1.4.1.57683.2), if any. */
  readonly uid?: string
  readonly notAfter: number
  /** The certificate itself (DER), where it came over a socket: for telling who signed it. */
  readonly raw?: Uint8Array
}

export interface WireResponse {
  readonly status: number
  readonly headers: WireHeaders
  /**
   * The whole body, its pieces in order, or a stream of chunks that are sent as they come. Whoever receives a stream
   * must iterate it or call its `return`.
   */
  readonly body?: WireBody
  /** The client may leave a stream unread for as long as it likes: what is behind it waits too. @default false */
  readonly unhurried?: boolean
  /** With status 101, to a request that asks for an upgrade: what both sides say on the connection from now on. */
  readonly conversation?: Conversation
}

/** What goes on after an upgrade. */
export interface Conversation {
  /** The subprotocols that are spoken. */
  readonly protocols: readonly string[]
  /**
   * Nothing is negotiated: the answer's headers go out as they are, and the channel is the connection's bytes, whatever
   * protocol they are. @default false
   */
  readonly raw?: boolean
  /** Talks until it is over; the connection is closed when this resolves. Called once, with the protocol chosen. */
  talk(channel: MessageChannel): Promise<void>
}

/** A connection on which both sides send messages whenever they like: a WebSocket, or bytes as they come. */
export interface MessageChannel {
  /** The subprotocol; empty when the client asked for none. */
  readonly protocol: string
  /** What the other side sends, for one consumer. Ends when it closes or goes away. */
  readonly messages: AsyncIterable<Uint8Array>
  /** Resolves when there is room for more; what is sent to somebody who has left is dropped. */
  send(message: Uint8Array): Promise<void>
}

export type WireBody = Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>

/**
 * A server is a function. It rejects only when it is broken: what a client did wrong, and what went wrong inside, are
 * answers. It never reads the request's `signal` reason as an error.
 */
export type Handler = (request: WireRequest) => Promise<WireResponse>

/** What a client sends requests through: a socket, or a {@link Handler} in the same process. */
export interface Transport extends AsyncDisposable {
  /**
   * Resolves with the head of the answer. Rejects with a `TransportError` when there is no answer, with the signal's
   * reason when it aborts.
   */
  send(request: WireRequest): Promise<WireResponse>
}
