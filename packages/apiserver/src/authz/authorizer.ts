import type { RequestContext, UserInfo } from '../request/context.ts'

/** Whether a request may go on. */
export type Authorizer = (context: RequestContext) => boolean

const everybodyPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/'])

/** `system:masters` may do everything; anybody may ask for health and version. */
export const authorizeMasters: Authorizer = ({ user, info }) => {
  if (user.groups.includes('system:masters')) return true
  if (info.isResource || info.verb !== 'get') return false
  return everybodyPaths.has(info.path) || /^\/(healthz|livez|readyz)\//.test(info.path)
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
