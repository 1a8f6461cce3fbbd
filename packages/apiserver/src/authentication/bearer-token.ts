import { decodeBase64Url, decodeText } from '@coxswain/kit'
import { getHeader, type WireRequest } from '@coxswain/wire'

/** What browsers, which cannot set headers on a WebSocket, offer as one of its protocols. */
const protocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * The longest bearer token. Requests with a longer one are unauthenticated before anything looks at it; tokens with hundreds of
 * groups have a few tens of kilobytes.
 */
export const longestToken: number = 64 * 1024

/** The bearer token of a request: of its `Authorization` header, or of the protocols of a WebSocket. */
export function findBearerToken(request: WireRequest): string | undefined {
  const header = getHeader(request.headers, 'authorization')
  if (header !== undefined) {
    const [scheme = '', token = ''] = header.trim().split(' ', 2)
    if (scheme.toLowerCase() === 'bearer' && token !== '') return token
  }
  const protocols = request.headers['sec-websocket-protocol']
  return protocols === undefined ? undefined : findProtocolToken(String(protocols))
}

function findProtocolToken(protocols: string): string | undefined {
  const encoded = protocols
    .split(',')
    .map(protocol => protocol.trim())
    .find(protocol => protocol.startsWith(protocolPrefix))
  if (encoded === undefined) return undefined
  const token = encoded.slice(protocolPrefix.length)
  // Four characters stand for three bytes: this one is too long whatever it says.
  if (token.length > 2 * longestToken) return token
  const bytes = decodeBase64Url(token)
  return bytes && decodeText(bytes)
}
