import type { WireRequest } from '@coxswain/wire'

/** The request with another body, or with the mark that it was too large. */
export function withBody(request: WireRequest, body: Uint8Array | 'too large'): WireRequest {
  return {
    method: request.method,
    path: request.path,
    query: request.query,
    headers: request.headers,
    ...(body === 'too large' ? { bodyTooLarge: true } : { body }),
    ...(request.peer && { peer: request.peer }),
    ...(request.peerError !== undefined && { peerError: request.peerError }),
    ...(request.remoteAddress !== undefined && { remoteAddress: request.remoteAddress }),
    // A getter: a request from a socket creates its signal on first use.
    get signal() {
      return request.signal
    },
  }
}
