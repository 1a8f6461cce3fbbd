import {
  getHeader,
  getHeaderValues,
  splitHeaderList,
  type WireHeaders,
  type WireRequest,
} from '@coxswain/wire'

type Headers = Record<string, string | readonly string[]>

/** About one connection, and of no concern to the next. */
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

/** What a client proves itself with is for the API server alone. */
const isSecret = (name: string): boolean =>
  name === 'authorization' || name.startsWith('impersonate-') || name.startsWith('x-remote-')

/** A token in the clothes of a WebSocket protocol. */
const bearerPrefix = 'base64url.bearer.authorization.k8s.io.'

/** Headers of answers that would let pages of other sites use the API server. */
const crossOrigin = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]

const noCache = 'no-cache, private'

/** The host that the client asked, as HTTP/1.1 or HTTP/2 say it. */
export function hostOf({ headers }: WireRequest): string {
  return getHeader(headers, 'host') ?? getHeader(headers, ':authority') ?? ''
}

/** Whether a request asks for another protocol on its connection. */
export function isUpgrade({ headers }: WireRequest): boolean {
  const connection = getHeaderValues(headers, 'connection').join(',').toLowerCase()
  return connection.includes('upgrade') && getHeader(headers, 'upgrade') !== undefined
}

/** The headers of a request that are forwarded to the backend, those of an upgrade included. */
export function forwardedHeaders(request: WireRequest, upgrade: boolean): Headers {
  const hidden = hiddenBy(request.headers)
  const headers: Headers = Object.create(null)
  for (const name in request.headers) {
    const isOfUpgrade = upgrade && name === 'upgrade'
    if (name.startsWith(':') || isSecret(name) || (hidden.has(name) && !isOfUpgrade)) continue
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

/** What of an answer's headers goes back to the client. */
export function returnedHeaders(answer: WireHeaders): Headers {
  const hidden = hiddenBy(answer)
  for (const name of crossOrigin) hidden.add(name)
  const headers: Headers = Object.create(null)
  for (const name in answer) if (!hidden.has(name)) headers[name] = answer[name]!
  // The API server's own word on caches stands before the answer's.
  const caching = getHeaderValues(answer, 'cache-control')
  headers['cache-control'] = caching.length === 0 ? noCache : [noCache, ...caching]
  return headers
}

/** Those that are always, and those that `Connection` names. */
function hiddenBy(headers: WireHeaders): Set<string> {
  const named = getHeaderValues(headers, 'connection').flatMap(splitHeaderList)
  return new Set([...hopByHop, ...named.map(name => name.toLowerCase())])
}
