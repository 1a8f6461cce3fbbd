/**
 * Requests and responses as plain records, and the transports for them.
 *
 *   client -> Transport -> ... -> Handler -> server
 *
 * In this entry: the contract, and the transport without sockets. `@coxswain/wire/node` has TLS, HTTP/1.1 and HTTP/2.
 * @module
 */

export { discardBody, isStream, joinChunks, readBody } from './body.ts'
export type { ByteStream } from './byte-stream.ts'
export { describeRequest } from './describe-request.ts'
export {
  isTransportError,
  TransportError,
  type TransportErrorCode,
  type TransportErrorOptions,
} from './errors.ts'
export { getHeader, getHeaderValues, type MediaType, parseMediaType, splitHeaderList } from './headers.ts'
export { type Http1Request, type Http1Response, sendHttp1 } from './http1/exchange.ts'
export {
  createInProcessTransport,
  type InProcessTransport,
  type InProcessTransportOptions,
} from './in-process.ts'
export type { InProcessChannel } from './in-process-channel.ts'
export type {
  BodyRefusal,
  Conversation,
  Handler,
  MessageChannel,
  PeerCertificate,
  Transport,
  WireBody,
  WireHeaders,
  WireRequest,
  WireResponse,
} from './message.ts'
export { type ParsedPath, parsePath } from './path.ts'
export { encodeSegment } from './percent.ts'
export { type ChunkReceiver, isPushStream, PushStream, type PushStreamOptions } from './push-stream.ts'
export { formatQuery, parseQuery, type QueryParameters } from './query.ts'
export { traceContextOf } from './trace-context.ts'
