import { brandErrors, CodedError, type IsError } from '@coxswain/kit'

/** Why there is no answer, or only a part of one. */
export type TransportErrorCode =
  /** No connection came about: refused, unreachable, unknown host, proxy said no. */
  | 'ConnectFailed'
  /** The peer's certificate, or ours, was not accepted, or the two speak no common protocol. */
  | 'TlsFailed'
  /** The connection went away before the answer was complete. */
  | 'ConnectionLost'
  /** Connecting, or waiting for a sign of life, took too long. */
  | 'Timeout'
  /** What came is not HTTP, or more than we take. */
  | 'BadMessage'
  /** The transport was disposed. */
  | 'Closed'
  /** The port cannot be bound. */
  | 'ListenFailed'
  /** A certificate, key or certificate request that cannot be read. */
  | 'BadCertificate'

export interface TransportErrorOptions {
  readonly cause?: unknown
  /** Whether the server may have seen the request: sending it again may then do its work twice. @default true */
  readonly sent?: boolean
}

export class TransportError extends CodedError<TransportErrorCode> {
  override readonly name = 'TransportError'
  readonly sent: boolean

  constructor(code: TransportErrorCode, message: string, options: TransportErrorOptions = {}) {
    super(code, message, 'cause' in options ? { cause: options.cause } : undefined)
    this.sent = options.sent ?? true
  }
}

/** True for the errors of any copy of this package; with `code`, for that one only. */
export const isTransportError: IsError<TransportError> = brandErrors(
  TransportError,
  'coxswain.wire.TransportError',
)
