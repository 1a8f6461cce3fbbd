import type { UserInfo } from '../request/context.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { type Access, type AccessRules, type Authorizer, allow, type Decision } from './authorizer.ts'

/** One line of a policy file. An empty field matches only an empty attribute. */
export interface AbacPolicy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

const allAuthenticated = 'system:authenticated'
const versions = ['abac.authorization.kubernetes.io/v1beta1', 'abac.authorization.kubernetes.io/v0']

/** Parses a file with one JSON object per line; blank lines and lines that begin with `#` are skipped. Throws with the line. */
export function parseAbacPolicy(text: string): AbacPolicy[] {
  const policies: AbacPolicy[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    try {
      policies.push(readPolicy(JSON.parse(trimmed)))
    } catch (error) {
      throw new Error(`line ${index + 1}: ${trimmed}: ${(error as Error).message}`, { cause: error })
    }
  }
  return policies
}

interface Line {
  readonly apiVersion?: unknown
  readonly kind?: unknown
  readonly spec?: unknown
}

function readPolicy(value: unknown): AbacPolicy {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('is not an object')
  const { apiVersion, kind, spec } = value as Line
  if (apiVersion === undefined && kind === undefined) return readUnversioned(value as Record<string, unknown>)
  if (kind !== 'Policy' || !versions.includes(String(apiVersion)))
    throw new Error(`unknown kind ${JSON.stringify(kind)} in ${JSON.stringify(apiVersion)}`)
  if (apiVersion === versions[1]) return readUnversioned(value as Record<string, unknown>)
  const policy = readFields((spec ?? {}) as Record<string, unknown>)
  return policy.user === '*' || policy.group === '*'
    ? { ...policy, user: '', group: allAuthenticated }
    : policy
}

/** The unversioned form, in which an omitted field matches everything. */
function readUnversioned(line: Record<string, unknown>): AbacPolicy {
  const { user, group, namespace, resource, readonly } = readFields(line)
  const isForAll = (user === '' && group === '') || user === '*' || group === '*'
  return {
    user: isForAll ? '' : user,
    group: isForAll ? allAuthenticated : group,
    readonly,
    apiGroup: '*',
    resource: resource || '*',
    namespace: namespace || '*',
    nonResourcePath: namespace === '' && resource === '' ? '*' : '',
  }
}

function readFields(fields: Record<string, unknown>): AbacPolicy {
  const textOf = (name: string): string => {
    const value = fields[name] ?? ''
    if (typeof value !== 'string') throw new Error(`${name} is not a string`)
    return value
  }
  const { readonly = false } = fields
  if (typeof readonly !== 'boolean') throw new Error('readonly is not a boolean')
  return {
    user: textOf('user'),
    group: textOf('group'),
    readonly,
    apiGroup: textOf('apiGroup'),
    resource: textOf('resource'),
    namespace: textOf('namespace'),
    nonResourcePath: textOf('nonResourcePath'),
  }
}

const noMatch: Decision = { verdict: 'no opinion', reason: 'No policy matched.' }

/** Allows what a line of the file allows. */
export function createAbacAuthorizer(policies: readonly AbacPolicy[]): Authorizer {
  const authorize = ({ user, info }: Access): Decision =>
    policies.some(policy => isFor(policy, user) && allows(policy, info)) ? allow : noMatch
  return Object.assign(authorize, {
    rulesFor: (user: UserInfo, namespace: string): AccessRules => {
      const own = policies.filter(
        policy => isFor(policy, user) && (policy.namespace === '*' || policy.namespace === namespace),
      )
      const verbsOf = ({ readonly }: AbacPolicy) => (readonly ? ['get', 'list', 'watch'] : ['*'])
      return {
        resourceRules: own
          .filter(({ resource }) => resource !== '')
          .map(policy => ({
            verbs: verbsOf(policy),
            apiGroups: [policy.apiGroup],
            resources: [policy.resource],
          })),
        nonResourceRules: own
          .filter(({ nonResourcePath }) => nonResourcePath !== '')
          .map(policy => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
        incomplete: false,
      }
    },
  })
}

/** A line with both a user and a group is for that user in that group. */
function isFor({ user, group }: AbacPolicy, who: UserInfo): boolean {
  if (user === '' && group === '') return false
  const isUser = user === '' || user === '*' || user === who.name
  return isUser && (group === '' || group === '*' || who.groups.includes(group))
}

function allows(policy: AbacPolicy, info: RequestInfo): boolean {
  if (policy.readonly && !isReadOnly(info)) return false
  if (!info.isResource) {
    const { nonResourcePath: path } = policy
    return (
      path === '*' ||
      path === info.path ||
      (path.endsWith('*') && info.path.startsWith(path.replace(/\*+$/, '')))
    )
  }
  return (
    (policy.namespace === '*' || policy.namespace === info.namespace) &&
    (policy.resource === '*' || policy.resource === info.resource) &&
    (policy.apiGroup === '*' || policy.apiGroup === info.group)
  )
}

function isReadOnly({ verb }: RequestInfo): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch'
}
