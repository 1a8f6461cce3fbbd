import type { WireHeaders, WireRequest } from '@coxswain/wire'

/** The request without some headers; the same request when it has none of them. */
export function withoutHeaders(request: WireRequest, isHidden: (name: string) => boolean): WireRequest {
  let isPlain = true
  for (const name in request.headers) if (isHidden(name)) isPlain = false
  if (isPlain) return request
  const headers: Record<string, WireHeaders[string]> = Object.create(null)
  for (const name in request.headers) if (!isHidden(name)) headers[name] = request.headers[name]!
  return {
    method: request.method,
    path: request.path,
    query: request.query,
    headers,
    ...(request.body && { body: request.body }),
    ...(request.bodyStream && { bodyStream: request.bodyStream }),
    ...(request.bodyTooLarge && { bodyTooLarge: true }),
    ...(request.receiveBody && { receiveBody: request.receiveBody }),
    ...(request.peer && { peer: request.peer }),
    ...(request.peerError !== undefined && { peerError: request.peerError }),
    ...(request.remoteAddress !== undefined && { remoteAddress: request.remoteAddress }),
    // A getter: a request from a socket creates its signal on first use.
    get signal() {
      return request.signal
    },
  }
}
