import type { FieldRequirement, Requirement } from '@coxswain/apimachinery/selectors'
import type { QueryParameters } from '@coxswain/wire'

/** The attributes of a request, parsed once from its method, path and query. Authorization and routing use this same value. */
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
  /** Whether the path has the legacy `/watch/` form. */
  readonly legacyWatch: boolean
  /** For authorizers only. */
  readonly selectors?: Selectors
}

/** The selectors of a list, watch or deletecollection; requirements are ANDed. A selector that cannot be parsed is absent. */
export interface Selectors {
  readonly fields?: readonly FieldRequirement[]
  readonly labels?: readonly Requirement[]
}

export interface NonResourceRequestInfo {
  readonly isResource: false
  /** The method in lower case, as in RBAC's non-resource rules. */
  readonly verb: string
  /** Unescaped, as routing sees it. */
  readonly path: string
}

/** Empty for methods without a verb (OPTIONS): only rules for all verbs match them. */
export type RequestVerb =
  | ''
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch'

const verbs: ReadonlyMap<string, RequestVerb> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/** Subresources of a namespace: any other third segment of `namespaces/x/y` is a resource in the namespace. */
const namespaceSubresources = new Set(['status', 'finalize'])

export function parseRequestInfo(
  method: string,
  path: string,
  segments: readonly string[],
  query: QueryParameters,
): RequestInfo {
  const core = segments[0] === 'api'
  if (!core && segments[0] !== 'apis') return nonResource(method, path)
  const group = core ? '' : segments[1]
  const version = core ? segments[1] : segments[2]
  /** The index of the resource in the path. */
  let at = core ? 2 : 3
  if (group === undefined || version === undefined || segments.length === at) return nonResource(method, path)

  let verb = verbs.get(method) ?? ''
  const legacyWatch = segments[at] === 'watch' && segments.length > at + 1
  if (legacyWatch) {
    at++
    verb = 'watch'
  }
  let namespace = ''
  if (segments[at] === 'namespaces' && segments.length > at + 1) {
    namespace = segments[at + 1]!
    if (segments.length > at + 2 && !namespaceSubresources.has(segments[at + 2]!)) at += 2
  }
  const resource = segments[at] ?? ''
  const name = segments[at + 1] ?? ''
  const subresource = segments[at + 2] ?? ''
  const rest = segments.length > at + 3 ? segments.slice(at + 3) : nothing
  if (name === '' && verb === 'get') verb = isTrue(query.get('watch')) ? 'watch' : 'list'
  if (name === '' && verb === 'delete') verb = 'deletecollection'
  return { isResource: true, verb, group, version, namespace, resource, subresource, name, rest, legacyWatch }
}

const nothing: readonly string[] = []

function nonResource(method: string, path: string): NonResourceRequestInfo {
  return { isResource: false, verb: method.toLowerCase(), path: decodePath(path) }
}

/** A path that cannot be decoded is returned unchanged: no endpoint matches it. */
function decodePath(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Upstream's parsing of a boolean parameter: everything but a clear no is true. */
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
