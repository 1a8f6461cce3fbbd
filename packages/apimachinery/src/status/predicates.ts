/**
 * Predicates on errors. All of them follow `cause`s, accept any value, and are false for errors without a
 * Status. A Status without a reason that Kubernetes knows is classified by its code.
 */
import type { StatusCause, StatusReason } from '../meta/status.ts'
import { findStatusError } from './status-error.ts'

const knownReasons: ReadonlySet<string> = new Set<StatusReason>([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StorageReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
])

/** The reason of the Status behind an error; empty when there is none. */
export function reasonOf(error: unknown): string {
  return findStatusError(error)?.reason ?? ''
}

function is(error: unknown, reason: StatusReason, code: number): boolean {
  const found = findStatusError(error)
  if (!found) return false
  return found.reason === reason || (found.code === code && !knownReasons.has(found.reason))
}

/** A 404. */
export function isNotFound(error: unknown): boolean {
  return is(error, 'NotFound', 404)
}

/** A 409 on create. */
export function isAlreadyExists(error: unknown): boolean {
  return reasonOf(error) === 'AlreadyExists'
}

/** A 409 on update: read again and retry. */
export function isConflict(error: unknown): boolean {
  return is(error, 'Conflict', 409)
}

/** A 422: validation failed. */
export function isInvalid(error: unknown): boolean {
  return is(error, 'Invalid', 422)
}

/** The resourceVersion or continue token is too old: only a relist helps. */
export function isResourceExpired(error: unknown): boolean {
  return reasonOf(error) === 'Expired'
}

/** 410 in either form. Reflectors relist on both. */
export function isExpired(error: unknown): boolean {
  return isResourceExpired(error) || is(error, 'Gone', 410)
}

/** A 406. */
export function isNotAcceptable(error: unknown): boolean {
  return is(error, 'NotAcceptable', 406)
}

/** A 415. */
export function isUnsupportedMediaType(error: unknown): boolean {
  return is(error, 'UnsupportedMediaType', 415)
}

/** A 405. */
export function isMethodNotSupported(error: unknown): boolean {
  return is(error, 'MethodNotAllowed', 405)
}

/** A 503. */
export function isServiceUnavailable(error: unknown): boolean {
  return is(error, 'ServiceUnavailable', 503)
}

/** A 400. */
export function isBadRequest(error: unknown): boolean {
  return is(error, 'BadRequest', 400)
}

/** A 401: the client is not authenticated. */
export function isUnauthorized(error: unknown): boolean {
  return is(error, 'Unauthorized', 401)
}

/** A 403: the user is not authorized. */
export function isForbidden(error: unknown): boolean {
  return is(error, 'Forbidden', 403)
}

/** 504: the operation may still complete. */
export function isTimeout(error: unknown): boolean {
  return is(error, 'Timeout', 504)
}

/** A 500 that asks to be tried again. */
export function isServerTimeout(error: unknown): boolean {
  return reasonOf(error) === 'ServerTimeout'
}

/** A 500 with reason InternalError. */
export function isInternalError(error: unknown): boolean {
  return is(error, 'InternalError', 500)
}

/** By reason, or by code whatever the reason says. */
export function isTooManyRequests(error: unknown): boolean {
  const found = findStatusError(error)
  return found?.reason === 'TooManyRequests' || found?.code === 429
}

/** By reason, or by code whatever the reason says. */
export function isRequestEntityTooLarge(error: unknown): boolean {
  const found = findStatusError(error)
  return found?.reason === 'RequestEntityTooLarge' || found?.code === 413
}

/** The first cause with that reason, such as `NamespaceTerminating`. */
export function findStatusCause(error: unknown, reason: string): StatusCause | undefined {
  return findStatusError(error)?.status.details?.causes?.find(cause => cause.reason === reason)
}

/** The response was not a Status: it may not come from an API server. */
export function isUnexpectedServerError(error: unknown): boolean {
  return findStatusCause(error, 'UnexpectedServerResponse') !== undefined
}

/** The server has not seen that resourceVersion yet. */
export function isTooLargeResourceVersion(error: unknown): boolean {
  return isTimeout(error) && findStatusCause(error, 'ResourceVersionTooLarge') !== undefined
}

/** The server's Retry-After in seconds; undefined when it asks for no delay. */
export function suggestsClientDelay(error: unknown): number | undefined {
  const found = findStatusError(error)
  const details = found?.status.details
  if (!details) return undefined
  const seconds = details.retryAfterSeconds ?? 0
  return seconds > 0 || found.reason === 'ServerTimeout' ? seconds : undefined
}
