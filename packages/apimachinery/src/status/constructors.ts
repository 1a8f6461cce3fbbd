/** The failures of a Kubernetes API server, one constructor each: codes, reasons, details and messages are upstream's. */
import type { FieldError } from '../field/error.ts'
import { ErrorList } from '../field/error-list.ts'
import { quote } from '../go/quote.ts'
import { formatGroupKind, formatGroupResource, type GroupKind, type GroupResource } from '../meta/gvk.ts'
import type { Status, StatusCause } from '../meta/status.ts'
import { type FailureInit, failureStatus, StatusError } from './status-error.ts'

function failure(init: FailureInit, cause?: unknown): StatusError {
  return new StatusError(failureStatus(init), cause instanceof Error ? { cause } : undefined)
}

function resourceDetails({ group, resource }: GroupResource, name = ''): NonNullable<FailureInit['details']> {
  return { name, group, kind: resource }
}

function textOf(error: Error | string): string {
  return typeof error === 'string' ? error : error.message
}

/** 404: the object does not exist. */
export function newNotFound(resource: GroupResource, name: string): StatusError {
  return failure({
    code: 404,
    reason: 'NotFound',
    message: `${formatGroupResource(resource)} ${quote(name)} not found`,
    details: resourceDetails(resource, name),
  })
}

/** 409: the object already exists. */
export function newAlreadyExists(resource: GroupResource, name: string): StatusError {
  return failure({
    code: 409,
    reason: 'AlreadyExists',
    message: `${formatGroupResource(resource)} ${quote(name)} already exists`,
    details: resourceDetails(resource, name),
  })
}

/** 401: the client is not authenticated. */
export function newUnauthorized(reason: string): StatusError {
  return failure({ code: 401, reason: 'Unauthorized', message: reason === '' ? 'not authorized' : reason })
}

/** 403. With an empty resource the message names none. */
export function newForbidden(resource: GroupResource, name: string, error: Error | string): StatusError {
  let message = `forbidden: ${textOf(error)}`
  if (resource.group !== '' || resource.resource !== '') {
    const subject = formatGroupResource(resource)
    message = name === '' ? `${subject} is ${message}` : `${subject} ${quote(name)} is ${message}`
  }
  return failure({ code: 403, reason: 'Forbidden', message, details: resourceDetails(resource, name) }, error)
}

/** 409: the object changed since it was read, or a precondition does not hold. */
export function newConflict(resource: GroupResource, name: string, error: Error | string): StatusError {
  const subject = `${formatGroupResource(resource)} ${quote(name)}`
  return failure(
    {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ${subject}: ${textOf(error)}`,
      details: resourceDetails(resource, name),
    },
    error,
  )
}

/** The message of {@link newConflict} for a stale resourceVersion. */
export const optimisticLockMessage: string =
  'the object has been modified; please apply your changes to the latest version and try again'

/** 409: other managers own fields of this apply. */
export function newApplyConflict(causes: readonly StatusCause[], message: string): StatusError {
  return failure({ code: 409, reason: 'Conflict', message, details: { causes } })
}

/** 410: the resourceVersion or continue token is too old. */
export function newResourceExpired(message: string): StatusError {
  return failure({ code: 410, reason: 'Expired', message })
}

/** 422, with a cause for each field error that the response can hold. */
export function newInvalid(kind: GroupKind, name: string, errors: Iterable<FieldError>): StatusError {
  const list = errors instanceof ErrorList ? errors : new ErrorList(errors)
  const subject = `${formatGroupKind(kind)} ${quote(name)} is invalid`
  return failure({
    code: 422,
    reason: 'Invalid',
    message: list.length > 0 ? `${subject}: ${list}` : subject,
    details: { name, group: kind.group, kind: kind.kind, causes: list.toCauses() },
  })
}

/** 400: the request is invalid. */
export function newBadRequest(message: string): StatusError {
  return failure({ code: 400, reason: 'BadRequest', message })
}

/** 429 from an endpoint that is not accepting requests for a while. */
export function newTooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return failure({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds } })
}

/** 503 */
export function newServiceUnavailable(message: string): StatusError {
  return failure({ code: 503, reason: 'ServiceUnavailable', message })
}

/** 405: the resource does not support the verb. */
export function newMethodNotSupported(resource: GroupResource, action: string): StatusError {
  return failure({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${action} is not supported on resources of kind ${quote(formatGroupResource(resource))}`,
    details: resourceDetails(resource),
  })
}

/** 406, as content negotiation answers it. */
export function newNotAcceptable(acceptedMediaTypes: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${acceptedMediaTypes.join(', ')}`
  return failure({ code: 406, reason: 'NotAcceptable', message })
}

/** 415, as content negotiation answers it. */
export function newUnsupportedMediaType(acceptedMediaTypes: readonly string[]): StatusError {
  const accepted = `accepted media types include: ${acceptedMediaTypes.join(', ')}`
  const message = `the body of the request was in an unknown format - ${accepted}`
  return failure({ code: 415, reason: 'UnsupportedMediaType', message })
}

/** 413 */
export function newRequestEntityTooLarge(message: string): StatusError {
  return failure({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: ${message}`,
  })
}

/** 500: something unexpected. */
export function newInternalError(error: Error | string): StatusError {
  const message = textOf(error)
  return failure(
    {
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    },
    error,
  )
}

/** 504: time ran out; the operation may still complete. */
export function newTimeout(message: string, retryAfterSeconds: number): StatusError {
  return failure({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${message}`,
    details: { retryAfterSeconds },
  })
}

/** 504: the server has not seen that resourceVersion yet. */
export function newTooLargeResourceVersion(
  requested: bigint | number,
  current: bigint | number,
  retryAfterSeconds: number,
): StatusError {
  const title = 'Too large resource version'
  return failure({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${title}: ${requested}, current: ${current}`,
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: title }], retryAfterSeconds },
  })
}

/** 500 without a reason: the response to an error that is not a StatusError. */
export function newUnknownError(message: string): StatusError {
  return failure({ code: 500, reason: '', message })
}

/** A success without an object, as for a delete. */
export function successStatus(details?: Status['details'], code?: number): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    ...(details && { details }),
    ...(code !== undefined && { code }),
  }
}
