/**
 * What RBAC allows, written directly from its rules and deliberately slow. It shares no code with the authorizer and parses
 * requests by itself, so that a shared mistake cannot hide.
 *
 * @module
 */

export interface ModelRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface ModelSubject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export interface ModelBinding {
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects: readonly ModelSubject[]
}

/** Keys of namespaced objects are `NAMESPACE/NAME`. */
export interface ModelPolicy {
  readonly clusterRoles: Map<string, readonly ModelRule[]>
  readonly roles: Map<string, readonly ModelRule[]>
  readonly clusterRoleBindings: Map<string, ModelBinding>
  readonly roleBindings: Map<string, ModelBinding>
}

export interface ModelUser {
  readonly name: string
  readonly groups: readonly string[]
}

export type ModelRequest =
  | { readonly about: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly about: 'resource'
      readonly verb: string
      readonly group: string
      readonly namespace: string
      readonly resource: string
      readonly subresource: string
      readonly name: string
    }

/** Scans every binding that names the user, and every rule of its role. */
export function modelAllows(policy: ModelPolicy, user: ModelUser, request: ModelRequest): boolean {
  const granted: ModelRule[] = []
  for (const binding of policy.clusterRoleBindings.values()) {
    if (!names(binding, user, undefined)) continue
    granted.push(...(policy.clusterRoles.get(binding.roleRef.name) ?? []))
  }
  if (request.about === 'resource' && request.namespace !== '')
    for (const [key, binding] of policy.roleBindings) {
      const [namespace] = key.split('/')
      if (namespace !== request.namespace || !names(binding, user, namespace)) continue
      const isCluster = binding.roleRef.kind === 'ClusterRole'
      const found = isCluster
        ? policy.clusterRoles.get(binding.roleRef.name)
        : policy.roles.get(`${namespace}/${binding.roleRef.name}`)
      granted.push(...(found ?? []))
    }
  return granted.some(rule => permits(rule, request))
}

function names({ subjects }: ModelBinding, user: ModelUser, home: string | undefined): boolean {
  for (const subject of subjects) {
    if (subject.kind === 'User' && subject.name === user.name) return true
    if (subject.kind === 'Group' && user.groups.some(group => group === subject.name)) return true
    if (subject.kind !== 'ServiceAccount') continue
    const namespace = subject.namespace ?? home
    if (namespace !== undefined && `system:serviceaccount:${namespace}:${subject.name}` === user.name)
      return true
  }
  return false
}

function permits(rule: ModelRule, request: ModelRequest): boolean {
  if (!rule.verbs.some(verb => verb === '*' || verb === request.verb)) return false
  if (request.about === 'path') {
    for (const pattern of rule.nonResourceURLs ?? []) {
      if (pattern === request.path) return true
      let stem = pattern
      while (stem[stem.length - 1] === '*') stem = stem.substring(0, stem.length - 1)
      if (stem !== pattern && request.path.indexOf(stem) === 0) return true
    }
    return false
  }
  if (!(rule.apiGroups ?? []).some(group => group === '*' || group === request.group)) return false
  const isNamed = (rule.resources ?? []).some(pattern => {
    if (pattern === '*') return true
    const [first, ...rest] = pattern.split('/')
    if (rest.length === 0) return request.subresource === '' && first === request.resource
    return (
      request.subresource !== '' &&
      rest.join('/') === request.subresource &&
      (first === '*' || first === request.resource)
    )
  })
  if (!isNamed) return false
  const only = rule.resourceNames ?? []
  return only.length === 0 || only.some(name => name === request.name)
}

const verbOfMethod = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/** The attributes of a request: its unescaped path, segment by segment, and the query of a collection. */
export function readRequest(method: string, rawPath: string, query: string): ModelRequest {
  const whole = takeOffEscapes(rawPath) ?? rawPath
  const nothing: ModelRequest = { about: 'path', verb: method.toLowerCase(), path: whole }
  const inner = rawPath.replace(/^\/+/, '').replace(/\/+$/, '')
  const pieces = inner === '' ? [] : inner.split('/').map(piece => takeOffEscapes(piece) ?? piece)
  const [root] = pieces
  if (root !== 'api' && root !== 'apis') return nothing
  const head = root === 'api' ? 2 : 3
  if (pieces.length <= head) return nothing
  let verb = verbOfMethod.get(method) ?? ''
  let rest = pieces.slice(head)
  let byPath = false
  if (rest[0] === 'watch' && rest.length >= 2) {
    verb = 'watch'
    byPath = true
    rest = rest.slice(1)
  }
  let namespace = ''
  if (rest[0] === 'namespaces' && rest.length >= 2) {
    namespace = rest[1] as string
    const isOfNamespace = rest.length === 2 || rest[2] === 'status' || rest[2] === 'finalize'
    if (!isOfNamespace) rest = rest.slice(2)
  }
  const [resource = '', plainName = '', subresource = ''] = rest
  let name = plainName
  const parameters = new URLSearchParams(query)
  if (name === '' && verb === 'get') {
    const watch = parameters.get('watch')
    verb = watch !== null && !['0', 'false', 'False', 'FALSE', 'F'].includes(watch) ? 'watch' : 'list'
    name = selectedName(parameters.get('fieldSelector') ?? '')
  } else if (name === '' && verb === 'delete') verb = 'deletecollection'
  if (byPath) name = plainName
  const group = root === 'api' ? '' : (pieces[1] as string)
  return { about: 'resource', verb, group, namespace, resource, subresource, name }
}

/** `metadata.name=x` makes a list one of a single object. */
function selectedName(selector: string): string {
  const names = selector
    .split(',')
    .map(term => /^metadata\.name={1,2}(.*)$/.exec(term)?.[1])
    .filter(name => name !== undefined)
    .sort()
  const [name = ''] = names
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name
}

function takeOffEscapes(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
