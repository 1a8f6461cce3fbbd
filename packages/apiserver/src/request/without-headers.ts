import type { WireHeaders, WireRequest } from '@coxswain/wire'
import { ChangedRequest } from './changed-request.ts'

/** The request without some headers; the same request when it has none of them. */
export function withoutHeaders(request: WireRequest, isHidden: (name: string) => boolean): WireRequest {
  let isPlain = true
  for (const name in request.headers) if (isHidden(name)) isPlain = false
  if (isPlain) return request
  const headers: Record<string, WireHeaders[string]> = Object.create(null)
  for (const name in request.headers) if (!isHidden(name)) headers[name] = request.headers[name]!
  return new ChangedRequest(request, headers, request)
}
