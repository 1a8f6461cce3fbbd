import { brandErrors, type IsError } from '@coxswain/kit'
import type { Status, StatusCause, StatusDetails } from '../meta/status.ts'

/**
 * A failure that is, or becomes, the response of an API server. Check with `isNotFound(e)`, `isConflict(e)` and friends,
 * never by message and never with `instanceof`: there may be several copies of this package in a program.
 */
export class StatusError extends Error {
  readonly status: Status

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? '', options)
    this.name = 'StatusError'
    this.status = status
  }

  /** The HTTP status code; 0 when the Status has none. */
  get code(): number {
    return this.status.code ?? 0
  }

  /** Empty when the server sent none. */
  get reason(): string {
    return this.status.reason ?? ''
  }
}

/** True also for an error made by another copy of this package. */
export const isStatusError: IsError<StatusError> = brandErrors(
  StatusError,
  'coxswain.apimachinery.StatusError',
)

/** The StatusError that `error` is or was caused by, looking through `cause`s. */
export function findStatusError(error: unknown): StatusError | undefined {
  const seen = new Set<unknown>()
  for (let at = error; typeof at === 'object' && at !== null && !seen.has(at); at = (at as Error).cause) {
    if (isStatusError(at)) return at
    seen.add(at)
  }
  return undefined
}

/** The members of a failure Status; empty ones are omitted, as on the wire. */
export interface FailureInit {
  readonly code: number
  /** Empty for none. */
  readonly reason: string
  readonly message: string
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly causes?: readonly StatusCause[]
    readonly retryAfterSeconds?: number
  }
}

/** A failure Status with its members in the order in which servers write them. */
export function failureStatus({ code, reason, message, details }: FailureInit): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    ...(message !== '' && { message }),
    ...(reason !== '' && { reason }),
    ...(details && { details: cleanDetails(details) }),
    ...(code !== 0 && { code }),
  }
}

function cleanDetails(details: NonNullable<FailureInit['details']>): StatusDetails {
  const { name, group, kind, uid, causes, retryAfterSeconds } = details
  return {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    ...(uid && { uid }),
    ...(causes?.length && { causes: causes.map(cleanCause) }),
    ...(retryAfterSeconds && { retryAfterSeconds }),
  }
}

function cleanCause({ reason, message, field }: StatusCause): StatusCause {
  return { ...(reason && { reason }), ...(message && { message }), ...(field && { field }) }
}
