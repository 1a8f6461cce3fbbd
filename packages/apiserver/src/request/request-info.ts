import type { QueryParameters } from '@coxswain/wire'
import type { Selectors } from '../authz/selectors.ts'

/** What a request asks for, read off its method, path and query once. Authorization and routing use this same value. */
export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo

export interface ResourceRequestInfo {
  readonly isResource: true
  readonly verb: RequestVerb
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly namespace: string
  /** Empty for discovery of a group-version. */
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** Segments after the subresource, as in `proxy/some/path`. */
  readonly rest: readonly string[]
  /** Whether the path was one of the old `/watch/` form. */
  readonly legacyWatch: boolean
  /** Which objects of a collection are meant. Only authorizers are told. */
  readonly selectors?: Selectors
}

export interface NonResourceRequestInfo {
  readonly isResource: false
  /** The method in lower case, as RBAC's non-resource rules have it. */
  readonly verb: string
  /** Without escapes, as routing sees it. */
  readonly path: string
}

export type RequestVerb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch'

const verbs: Readonly<Record<string, RequestVerb>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Subresources of a namespace: what else stands third in `namespaces/x/y` is a resource in the namespace. */
const namespaceSubresources = new Set(['status', 'finalize'])

export function parseRequestInfo(
  method: string,
  path: string,
  segments: readonly string[],
  query: QueryParameters,
): RequestInfo {
  const nonResource: NonResourceRequestInfo = {
    isResource: false,
    verb: method.toLowerCase(),
    path: decodePath(path),
  }
  const core = segments[0] === 'api'
  if (!core && segments[0] !== 'apis') return nonResource
  const group = core ? '' : segments[1]
  const version = core ? segments[1] : segments[2]
  if (group === undefined || version === undefined) return nonResource
  let parts = segments.slice(core ? 2 : 3)
  if (parts.length === 0) return nonResource

  let verb = verbs[method] ?? 'get'
  const legacyWatch = parts[0] === 'watch' && parts.length > 1
  if (legacyWatch) {
    parts = parts.slice(1)
    verb = 'watch'
  }
  let namespace = ''
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1]!
    if (parts.length > 2 && !namespaceSubresources.has(parts[2]!)) parts = parts.slice(2)
  }
  const [resource = '', name = '', subresource = '', ...rest] = parts
  if (name === '' && verb === 'get') verb = isTrue(query.get('watch')) ? 'watch' : 'list'
  if (name === '' && verb === 'delete') verb = 'deletecollection'
  return { isResource: true, verb, group, version, namespace, resource, subresource, name, rest, legacyWatch }
}

/** A path that cannot be decoded names nothing: nobody answers it. */
function decodePath(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Upstream's reading of a boolean parameter: everything but a clear no is a yes. */
export function isTrue(value: string | undefined): boolean {
  return (
    value !== undefined &&
    value !== '0' &&
    value !== 'false' &&
    value !== 'False' &&
    value !== 'FALSE' &&
    value !== 'F'
  )
}
