import type { ListMeta } from './meta.ts'

/** Machine-readable reasons of failures. */
export type StatusReason =
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StorageReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'

/** One cause of a failure. */
export interface StatusCause {
  /** `FieldValueInvalid`, `FieldManagerConflict`, `ResourceVersionTooLarge`, ... */
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  /** The resource, except for `Invalid`, where it is the kind. */
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** `metav1.Status`: a failure, or a success without an object. */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: ListMeta
  readonly status?: 'Success' | 'Failure'
  readonly message?: string
  /** A {@link StatusReason}; servers may send others. Absent when the server sent none. */
  readonly reason?: StatusReason | (string & {})
  readonly details?: StatusDetails
  /** The HTTP status code. */
  readonly code?: number
}

/** True for a value with the `kind` and an `apiVersion` of a Status. */
export function isStatus(value: unknown): value is Status {
  if (typeof value !== 'object' || value === null) return false
  const { kind, apiVersion } = value as { kind?: unknown; apiVersion?: unknown }
  return kind === 'Status' && (apiVersion === 'v1' || apiVersion === 'meta.k8s.io/v1')
}
