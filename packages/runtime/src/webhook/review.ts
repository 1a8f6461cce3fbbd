import { readJson, writeJsonBytes } from '@coxswain/apimachinery/json'
import type { GroupVersionKind, GroupVersionResource } from '@coxswain/apimachinery/meta'
import type { Status } from '@coxswain/apimachinery/status'
import { encodeText } from '@coxswain/kit'
import { getHeader, parseMediaType, type WireRequest, type WireResponse } from '@coxswain/wire'
import type { AdmissionOperation, AdmissionUser } from './admission.ts'

/** The largest body, controller-runtime's limit: an object of the largest size, twice, and some overhead. */
export const maxReviewBytes: number = 7 * 1024 * 1024

/** `request` of an AdmissionReview. */
export interface AdmissionRequest {
  readonly uid: string
  readonly kind?: GroupVersionKind
  readonly resource?: GroupVersionResource
  readonly subResource?: string
  readonly requestKind?: GroupVersionKind
  readonly requestResource?: GroupVersionResource
  readonly name?: string
  readonly namespace?: string
  readonly operation: AdmissionOperation
  readonly userInfo?: AdmissionUser
  readonly object?: unknown
  readonly oldObject?: unknown
  readonly dryRun?: boolean
  readonly options?: Record<string, unknown>
}

/** `response` of an AdmissionReview. */
export interface AdmissionResponse {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: Status
  readonly patchType?: 'JSONPatch'
  /** Base64. */
  readonly patch?: string
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

/** `request` of a ConversionReview. */
export interface ConversionRequest {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly unknown[]
}

/** `response` of a ConversionReview. */
export interface ConversionResponse {
  readonly uid: string
  readonly convertedObjects: readonly unknown[]
  readonly result: Status
}

/** A request that is not a review, and its answer. */
export interface NotAReview {
  readonly code: number
  readonly message: string
}

type Members = Readonly<Record<string, unknown>>

/** Parses the `request` of a review of this kind. */
export function readReview<T>(
  request: WireRequest,
  expected: { readonly apiVersion: string; readonly kind: string },
): { readonly ok: true; readonly request: T } | ({ readonly ok: false } & NotAReview) {
  const fail = (code: number, message: string) => ({ ok: false, code, message }) as const
  if (request.method !== 'POST') return fail(405, 'method not allowed, expected POST')
  if (request.bodyTooLarge || (request.body?.length ?? 0) > maxReviewBytes)
    return fail(413, `request entity is too large; limit is ${maxReviewBytes} bytes`)
  const contentType = getHeader(request.headers, 'content-type') ?? ''
  if (parseMediaType(contentType).type !== 'application/json')
    return fail(415, `contentType=${contentType}, expected application/json`)
  if (!request.body?.length) return fail(400, 'request body is empty')
  let review: unknown
  try {
    review = readJson(request.body, { maxBytes: maxReviewBytes, literals: false }).value
  } catch (error) {
    return fail(400, (error as Error).message)
  }
  if (!isMembers(review) || review.kind !== expected.kind) return fail(400, `expected kind ${expected.kind}`)
  if (review.apiVersion !== expected.apiVersion)
    return fail(
      400,
      `unsupported apiVersion ${String(review.apiVersion)} of ${expected.kind}, expected ${expected.apiVersion}`,
    )
  if (!isMembers(review.request) || typeof review.request.uid !== 'string')
    return fail(400, `the ${expected.kind} has no request with a uid`)
  return { ok: true, request: review.request as T }
}

export function writeReview(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  response: AdmissionResponse | ConversionResponse,
): WireResponse {
  const body = writeJsonBytes({ apiVersion, kind, response })
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}

export function plainAnswer(code: number, message: string): WireResponse {
  const body = encodeText(`${message}\n`)
  return { status: code, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
