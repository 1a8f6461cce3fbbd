import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** Why there is no response, or only a part of one. */
export type TransportErrorCode =
  /** The connection failed: refused, unreachable, unknown host, rejected by a proxy. */
  | 'ConnectFailed'
  /** The peer's certificate, or ours, was rejected, or there is no common protocol. */
  | 'TlsFailed'
  /** The connection was lost before the response was complete. */
  | 'ConnectionLost'
  /** Connecting, or waiting for a ping, took too long. */
  | 'Timeout'
  /** The response is not HTTP, or exceeds a limit. */
  | 'BadMessage'
  /** The transport was disposed. */
  | 'Closed'
  /** The port cannot be bound. */
  | 'ListenFailed'
  /** A certificate, key or certificate request that cannot be parsed. */
  | 'BadCertificate'

/** The cause of a TransportError, and whether the request was sent. */
export interface TransportErrorOptions {
  readonly cause?: unknown
  /** Whether the server may have seen the request: retrying it may then do its work twice. @default true */
  readonly sent?: boolean
}

/** A request without a complete response. Check with {@link isTransportError}. */
export class TransportError extends CodedError<TransportErrorCode> {
  override readonly name = 'TransportError'
  readonly sent: boolean

  constructor(code: TransportErrorCode, message: string, options: TransportErrorOptions = {}) {
    super(code, message, 'cause' in options ? { cause: options.cause } : undefined)
    this.sent = options.sent ?? true
  }
}

/** True for the errors of any copy of this package; with `code`, for that code only. */
export const isTransportError: IsError<TransportError> = brandErrors(
  TransportError,
  'coxswain.wire.TransportError',
)
