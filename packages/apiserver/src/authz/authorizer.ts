import type { RequestContext, ServerState, UserInfo } from '../request/context.ts'
import type { RequestInfo } from '../request/request-info.ts'

/** What somebody wants to do: a request on its way, or one that is only asked about. */
export interface Access {
  readonly state: ServerState
  readonly user: UserInfo
  readonly info: RequestInfo
}

/** What somebody may do in a namespace, as far as it can be listed. */
export interface AccessRules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** Whether there may be more than can be said. */
  readonly incomplete: boolean
}

export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface NonResourceRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** Says whether an access is allowed. */
export interface Authorizer {
  (access: Access): boolean
  /** Lists what a user may do. An authorizer without it cannot say. */
  readonly rulesFor?: (state: ServerState, user: UserInfo, namespace: string) => AccessRules
}

const masters = 'system:masters'
const everybodyPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/'])

/** `system:masters` may do everything; anybody may ask for health and version. */
export const authorizeMasters: Authorizer = Object.assign(
  ({ user, info }: Access): boolean => {
    if (user.groups.includes(masters)) return true
    if (info.isResource || info.verb !== 'get') return false
    return everybodyPaths.has(info.path) || /^\/(healthz|livez|readyz)\//.test(info.path)
  },
  { rulesFor: (_state: ServerState, user: UserInfo) => listRules(user) },
)

function listRules(user: UserInfo): AccessRules {
  const isMaster = user.groups.includes(masters)
  const everything = ['*']
  const forEverybody = [...everybodyPaths, '/healthz/*', '/livez/*', '/readyz/*']
  return {
    resourceRules: isMaster ? [{ verbs: everything, apiGroups: everything, resources: everything }] : [],
    nonResourceRules: [
      ...(isMaster ? [{ verbs: everything, nonResourceURLs: everything }] : []),
      { verbs: ['get'], nonResourceURLs: forEverybody },
    ],
    incomplete: false,
  }
}

export const alwaysAllow: Authorizer = () => true
export const alwaysDeny: Authorizer = () => false

/** Upstream's words for what was refused. */
export function describeRefusal(user: UserInfo, info: RequestContext['info']): string {
  const who = `User ${JSON.stringify(user.name)} cannot`
  if (!info.isResource) return `${who} ${info.verb} path ${JSON.stringify(info.path)}`
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const what = `${who} ${info.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)}`
  return info.namespace === ''
    ? `${what} at the cluster scope`
    : `${what} in the namespace ${JSON.stringify(info.namespace)}`
}
