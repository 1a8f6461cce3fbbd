import { cleanPath, encodePath } from '../../outbound/url-path.ts'

/** What a URL in a response is rewritten by. */
export interface RewriteRule {
  /** The API server's part of the path, decoded. */
  readonly prefix: string
  /** `host:port` of the backend. */
  readonly backendHost: string
  /** The host in the client's request. */
  readonly requestHost: string
}

/**
 * Rewrites an absolute URL of the backend to lead through the proxy. Other URLs, and relative ones, stay
 * unchanged.
 */
export function rewriteUrl(url: string, { prefix, backendHost, requestHost }: RewriteRule): string {
  const [, scheme = '', , host = '', path = '', rest = ''] =
    /^(?:([a-z][a-z0-9+.-]*:))?(\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(url) ?? []
  const isElsewhere = host !== '' && host !== backendHost && host !== requestHost
  if (isElsewhere || !path.startsWith('/') || (scheme !== '' && host === '')) return url
  const origin = host !== '' && host === requestHost ? `${scheme}//${host}` : ''
  const before = encodePath(prefix)
  if (path.startsWith(before) || path.startsWith(prefix)) return `${origin}${path}${rest}`
  return `${origin}${before}${path === '/' ? '/' : cleanPath(path)}${rest}`
}
