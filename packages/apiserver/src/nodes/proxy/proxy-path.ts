import { cleanPath } from '../../outbound/url-path.ts'
import type { ResourceContext } from '../../request/context.ts'

/** The path of a proxy request. */
export interface ProxyPath {
  /** Decoded and clean, with the request's trailing slash; empty for `.../proxy` itself. */
  readonly path: string
  /** The API server's own part, decoded: `/api/v1/namespaces/NS/pods/NAME/proxy`. */
  readonly prefix: string
}

/**
 * Splits a request's path at `proxy`. Dots are resolved here, once, in decoded segments: nothing that a client sends escapes
 * the part after `proxy`, and the backend cannot read the path differently than the authorizers did.
 */
export function splitProxyPath({ info, path }: ResourceContext): ProxyPath {
  const { segments, trailingSlash } = path
  const prefix = `/${segments.slice(0, segments.length - info.rest.length).join('/')}`
  const rest = info.rest.join('/')
  if (rest === '') return { path: trailingSlash ? '/' : '', prefix }
  return { path: cleanPath(trailingSlash ? `/${rest}/` : `/${rest}`), prefix }
}
