import { type Status, type StatusError, writeJsonBytes } from '@coxswain/apimachinery'
import type { WireBody, WireHeaders, WireResponse } from '@coxswain/wire'
import { encodeText } from './json.ts'

const jsonHeaders: WireHeaders = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }
const textHeaders: WireHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-cache, private',
  'x-content-type-options': 'nosniff',
}

export function jsonResponse(status: number, value: unknown): WireResponse {
  return { status, headers: jsonHeaders, body: writeJsonBytes(value) }
}

/** For bytes that are JSON already. */
export function jsonBytesResponse(status: number, body: WireBody): WireResponse {
  return { status, headers: jsonHeaders, body }
}

export function textResponse(status: number, text: string): WireResponse {
  return { status, headers: textHeaders, body: encodeText(text) }
}

export function statusResponse(status: Status): WireResponse {
  const retryAfter = status.details?.retryAfterSeconds
  const response = jsonResponse(status.code ?? 200, status)
  if (!retryAfter) return response
  return { ...response, headers: { ...response.headers, 'retry-after': String(retryAfter) } }
}

export function errorResponse(error: StatusError): WireResponse {
  return statusResponse(error.status)
}

export const notFoundPage: WireResponse = textResponse(404, '404 page not found\n')
