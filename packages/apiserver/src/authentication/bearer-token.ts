import { decodeBase64Url, decodeText } from '@coxswain/kit'
import { getHeader, type WireRequest } from '@coxswain/wire'

/** The subprotocol in which browsers, which cannot set headers on a WebSocket, send the token. */
const protocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * The longest bearer token. Requests with a longer one are unauthenticated before it is parsed; tokens with hundreds of
 * groups have a few tens of kilobytes.
 */
export const longestToken: number = 64 * 1024

/** The bearer token of a request: from its `Authorization` header, or from its WebSocket subprotocols. */
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
  // Four characters encode three bytes: this one is too long whatever it contains.
  if (token.length > 2 * longestToken) return token
  const bytes = decodeBase64Url(token)
  return bytes && decodeText(bytes)
}
