import type { ResourceContext } from '../../request/context.ts'

/** What a proxy request asks of whoever is behind it. */
export interface ProxyPath {
  /** Decoded, clean, with its slash at the end if the request has one; empty for `.../proxy` itself. */
  readonly path: string
  /** The API server's own part, decoded: `/api/v1/namespaces/NS/pods/NAME/proxy`. */
  readonly prefix: string
}

/**
 * Splits a request's path at `proxy`. Dots are resolved here, once, in decoded segments: nothing that a client sends gets
 * out of the part behind `proxy`, and what is behind cannot read it in another way than the authorizers did.
 */
export function splitProxyPath({ info, path }: ResourceContext): ProxyPath {
  const { segments, trailingSlash } = path
  const prefix = `/${segments.slice(0, segments.length - info.rest.length).join('/')}`
  const rest = info.rest.join('/')
  if (rest === '') return { path: trailingSlash ? '/' : '', prefix }
  return { path: cleanPath(trailingSlash ? `/${rest}/` : `/${rest}`), prefix }
}

/** Resolves `.` and `..` and joins slashes, without leaving the root. The last slash stays. */
export function cleanPath(path: string): string {
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  const clean = `/${kept.join('/')}`
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean
}

/** Encodes a decoded path as Go's `url.URL` does: upstream's back ends have always seen it so. */
export function encodePath(path: string): string {
  return encodeURIComponent(path)
    .replace(/%(2F|24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replace(/[!'()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
