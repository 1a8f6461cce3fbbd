import {
  getHeader,
  getHeaderValues,
  splitHeaderList,
  type WireHeaders,
  type WireRequest,
} from '@coxswain/wire'

type Headers = Record<string, string | readonly string[]>

/** Hop-by-hop headers. */
const hopByHop = [
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** The client's credentials are for the API server only. */
const isSecret = (name: string): boolean =>
  name === 'authorization' || name.startsWith('impersonate-') || name.startsWith('x-remote-')

/** A bearer token sent as a WebSocket subprotocol. */
const bearerPrefix = 'base64url.bearer.authorization.k8s.io.'

/** Response headers that would let pages of other sites use the API server. */
const crossOrigin = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]

const noCache = 'no-cache, private'

/** The host in the client's request, of HTTP/1.1 or HTTP/2. */
export function hostOf({ headers }: WireRequest): string {
  return getHeader(headers, 'host') ?? getHeader(headers, ':authority') ?? ''
}

/** Whether a request asks for a protocol upgrade. */
export function isUpgrade({ headers }: WireRequest): boolean {
  const connection = getHeaderValues(headers, 'connection').join(',').toLowerCase()
  return connection.includes('upgrade') && getHeader(headers, 'upgrade') !== undefined
}

/** The request headers that are forwarded to the backend. */
export function forwardedHeaders(request: WireRequest): Headers {
  return headersWithout(request, hiddenBy(request.headers))
}

/** The same, with those of a protocol upgrade. */
export function forwardedUpgradeHeaders(request: WireRequest): Headers {
  const hidden = new Set(hiddenBy(request.headers))
  hidden.delete('upgrade')
  return headersWithout(request, hidden)
}

function headersWithout(request: WireRequest, hidden: ReadonlySet<string>): Headers {
  const headers: Headers = Object.create(null)
  for (const name in request.headers) {
    if (name.startsWith(':') || isSecret(name) || hidden.has(name)) continue
    headers[name] = request.headers[name]!
  }
  const host = hostOf(request)
  if (host !== '') headers.host = host
  const protocols = getHeaderValues(headers, 'sec-websocket-protocol').flatMap(splitHeaderList)
  if (protocols.some(name => name.startsWith(bearerPrefix))) {
    const left = protocols.filter(name => !name.startsWith(bearerPrefix))
    if (left.length > 0) headers['sec-websocket-protocol'] = left.join(', ')
    else delete headers['sec-websocket-protocol']
  }
  if (request.remoteAddress !== undefined) {
    const before = getHeaderValues(request.headers, 'x-forwarded-for')
    headers['x-forwarded-for'] = [...before, request.remoteAddress].join(', ')
  }
  return headers
}

/** The response headers that are passed to the client. */
export function returnedHeaders(answer: WireHeaders): Headers {
  const hidden = hiddenBy(answer)
  for (const name of crossOrigin) hidden.add(name)
  const headers: Headers = Object.create(null)
  for (const name in answer) if (!hidden.has(name)) headers[name] = answer[name]!
  // The API server's own cache headers take precedence.
  const caching = getHeaderValues(answer, 'cache-control')
  headers['cache-control'] = caching.length === 0 ? noCache : [noCache, ...caching]
  return headers
}

/** The hop-by-hop headers, and those that `Connection` names. */
function hiddenBy(headers: WireHeaders): Set<string> {
  const named = getHeaderValues(headers, 'connection').flatMap(splitHeaderList)
  return new Set([...hopByHop, ...named.map(name => name.toLowerCase())])
}
