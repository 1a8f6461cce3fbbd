/** A request, as a client sends it and a server receives it. Owned by the receiver once handed over. */
export interface WireRequest {
  /** Upper case. */
  readonly method: string
  /** As on the wire: percent-encoded, without the query, never normalised. */
  readonly path: string
  /** What follows the `?`, still encoded; empty when there is none. */
  readonly query: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array
  /** The body exceeded the server's limit; it was not kept, and `body` is absent. The response is a 413. */
  readonly bodyTooLarge?: boolean
  /**
   * The streamed body, for one reader, for requests that the server passes through; `body` is then absent. It
   * throws when the client aborts; a handler that does not need (the rest of) it calls its `return`, or just responds.
   * A transport over sockets sends it as it arrives, with the `content-length` of the headers if they have one.
   */
  readonly bodyStream?: AsyncIterable<Uint8Array>
  /**
   * Receives the body, if the server leaves that to the handler (`ServeOptions.defersBodies`): `body` is absent then, and
   * a handler that responds without calling this does not receive the body. To be called once. The bytes are counted for
   * `owner` until the request is answered. Rejects when the client aborts, or is too slow.
   */
  readonly receiveBody?: (owner: string) => Promise<Uint8Array | BodyRefusal>
  /** The verified client certificate, signed by the client CA. Set by the transport alone. */
  readonly peer?: PeerCertificate
  /** Why the client's certificate was rejected. The response is a 401 unless another credential authenticates the client. */
  readonly peerError?: string
  /** The client's address without the port, for audit and logs. */
  readonly remoteAddress?: string
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal
}

/** Why a body was rejected: it is longer than the server allows, or the memory for bodies is exhausted. */
export type BodyRefusal = 'too large' | 'no room'

/**
 * Names in lower case. A repeated header is an array only where order and separateness matter. Requests
 * over HTTP/2 may have pseudo headers (`:authority`).
 */
export type WireHeaders = Readonly<Record<string, string | readonly string[]>>

/** The subject and validity of a verified client certificate. */
export interface PeerCertificate {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** The subject's uid attribute (1.3.6.1.4.1.57683.2), if any. */
  readonly uid?: string
  readonly notAfter: number
  /** The certificate itself (DER), if it came over a socket: to find out who signed it. */
  readonly raw?: Uint8Array
}

/** A response, as a server sends it and a client receives it. */
export interface WireResponse {
  readonly status: number
  readonly headers: WireHeaders
  /**
   * The whole body, its chunks in order, or a stream of chunks that are sent as they arrive. The receiver of a stream
   * must iterate it or call its `return`.
   */
  readonly body?: WireBody
  /** The client may leave a stream unread for as long as it wants: the producer waits too. @default false */
  readonly unhurried?: boolean
  /** With status 101, to a request for an upgrade: the conversation on the upgraded connection. */
  readonly conversation?: Conversation
}

/** What follows an upgrade. */
export interface Conversation {
  /** The supported subprotocols. */
  readonly protocols: readonly string[]
  /**
   * Nothing is negotiated: the response headers are sent unchanged, and the channel is the raw bytes of the
   * connection. @default false
   */
  readonly raw?: boolean
  /** Runs until it resolves; the connection is closed then. Called once, with the negotiated protocol. */
  talk(channel: MessageChannel): Promise<void>
}

/** A connection on which both sides send messages at any time: a WebSocket, or raw bytes. */
export interface MessageChannel {
  /** The subprotocol; empty when the client requested none. */
  readonly protocol: string
  /** What the peer sends, for one consumer. Ends when it closes or disconnects. */
  readonly messages: AsyncIterable<Uint8Array>
  /** Resolves when more can be sent; data for a disconnected peer is dropped. */
  send(message: Uint8Array): Promise<void>
}

/** A response body: bytes, chunks, or a stream of chunks. */
export type WireBody = Uint8Array | readonly Uint8Array[] | AsyncIterable<Uint8Array>

/**
 * A server is a function. It rejects only when it is broken: client errors and internal errors are
 * responses. It never treats the request's `signal` reason as an error.
 */
export type Handler = (request: WireRequest) => Promise<WireResponse>

/** Sends requests: through a socket, or to a {@link Handler} in the same process. */
export interface Transport extends AsyncDisposable {
  /**
   * Resolves with the head of the response. Rejects with a `TransportError` when there is no response, with the signal's
   * reason when it aborts.
   */
  send(request: WireRequest): Promise<WireResponse>
}
