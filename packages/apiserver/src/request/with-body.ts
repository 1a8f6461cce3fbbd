import type { WireRequest } from '@coxswain/wire'
import { ChangedRequest } from './changed-request.ts'

const tooLarge = { bodyTooLarge: true }

/** The request with another body, or with the mark that it was too large. */
export function withBody(request: WireRequest, body: Uint8Array | 'too large'): WireRequest {
  return new ChangedRequest(request, request.headers, body === 'too large' ? tooLarge : { body })
}
