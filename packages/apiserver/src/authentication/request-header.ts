import { getHeader, getHeaderValues, type PeerCertificate, type WireHeaders } from '@coxswain/wire'
import { type Authenticator, authenticateCertificate } from './authenticator.ts'
import { headerText, unescapeHeaderKey } from './header-text.ts'

/** How front proxies are recognized, and which headers they set. */
export interface RequestHeaderOptions {
  /** Whether the certificate is a front proxy's: signed by the CA of front proxies. */
  readonly isProxy: (peer: PeerCertificate) => boolean
  /** Whether the certificate is a client's own: signed by a client CA. */
  readonly isClient: (peer: PeerCertificate) => boolean
  /** Common names of front proxies; empty allows any. */
  readonly allowedNames: readonly string[]
  /** Header names in lower case, and the prefixes of extra headers. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

/**
 * Authenticates the user named by a front proxy, then the user of a client certificate. The CA distinguishes the two: a
 * client certificate cannot name another user, and a proxy's certificate is not a user.
 */
export function createProxyAuthenticators(options: RequestHeaderOptions): Authenticator[] {
  return [
    ({ peer, headers }, clock) => {
      if (!peer || !options.isProxy(peer)) return undefined
      const name = firstValue(headers, options.usernameHeaders)
      if (name === '') return undefined
      const { allowedNames } = options
      if (clock.now() > peer.notAfter) return 'invalid'
      if (allowedNames.length > 0 && !allowedNames.includes(peer.commonName)) return 'invalid'
      const groups = options.groupHeaders.flatMap(header =>
        getHeaderValues(headers, header)
          .map(headerText)
          .filter(group => group !== ''),
      )
      const extra = readExtra(headers, options.extraHeaderPrefixes)
      const uid = firstValue(headers, options.uidHeaders)
      return { name, groups, ...(uid !== '' && { uid }), ...(Object.keys(extra).length > 0 && { extra }) }
    },
    (request, clock) =>
      request.peer && options.isClient(request.peer) ? authenticateCertificate(request, clock) : undefined,
  ]
}

/** The headers that only such a proxy may send, for `AuthenticationOptions.proxyHeaders`. */
export function proxyHeadersOf(options: RequestHeaderOptions): string[] {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = options
  return [
    ...usernameHeaders,
    ...uidHeaders,
    ...groupHeaders,
    ...extraHeaderPrefixes.map(prefix => `${prefix}*`),
  ]
}

function firstValue(headers: WireHeaders, names: readonly string[]): string {
  for (const name of names) {
    const value = getHeader(headers, name) ?? ''
    if (value !== '') return headerText(value)
  }
  return ''
}

function readExtra(headers: WireHeaders, prefixes: readonly string[]): Record<string, string[]> {
  const extra: Record<string, string[]> = Object.create(null)
  for (const prefix of prefixes) {
    for (const header in headers) {
      if (!header.startsWith(prefix)) continue
      const key = unescapeHeaderKey(header.slice(prefix.length))
      extra[key] = [...(extra[key] ?? []), ...getHeaderValues(headers, header).map(headerText)]
    }
  }
  return extra
}
