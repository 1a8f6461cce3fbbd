import type { UserInfo } from '@coxswain/strategies'
import type { RequestInfo } from '../request/request-info.ts'

/** What a user is about to do: a request on its way, or one that a review asks about. */
export interface Access {
  readonly user: UserInfo
  readonly info: RequestInfo
}

/** What a user may do in a namespace, as far as it can be listed. */
export interface AccessRules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** Whether there may be more than can be said. */
  readonly incomplete: boolean
  /** What kept the authorizer from listing everything. */
  readonly evaluationError?: string
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

/** What an authorizer makes of an access. Only `allow` lets it pass; after `deny` no other authorizer is asked. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion'
  /** For the answer of the refused request, and for reviews. */
  readonly reason?: string
  /** What kept the authorizer from looking at everything; for reviews and audit. */
  readonly error?: string
}

export const allow: Decision = { verdict: 'allow' }
export const deny: Decision = { verdict: 'deny' }
export const noOpinion: Decision = { verdict: 'no opinion' }

/** Says whether an access is allowed; at once where it can, since every request waits for it. */
export interface Authorizer {
  (access: Access): Decision | Promise<Decision>
  /** Lists what a user may do. An authorizer without it cannot say. */
  readonly rulesFor?: (user: UserInfo, namespace: string) => AccessRules | Promise<AccessRules>
  /** Lets go of what it holds; called when the server stops. */
  readonly dispose?: () => Promise<void>
}

const everything = ['*']

export const alwaysAllow: Authorizer = Object.assign((): Decision => allow, {
  rulesFor: (): AccessRules => ({
    resourceRules: [{ verbs: everything, apiGroups: everything, resources: everything }],
    nonResourceRules: [{ verbs: everything, nonResourceURLs: everything }],
    incomplete: false,
  }),
})

const forbidden: Decision = { verdict: 'no opinion', reason: 'Everything is forbidden.' }

/** Upstream's has no opinion either, so that an authorizer behind it may still allow. */
export const alwaysDeny: Authorizer = Object.assign((): Decision => forbidden, {
  rulesFor: (): AccessRules => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
})

/** Upstream's words for what was refused, with the authorizer's reason if it gave one. */
export function describeRefusal(user: UserInfo, info: RequestInfo, reason = ''): string {
  const what = describeAccess(user, info)
  return reason === '' ? what : `${what}: ${reason}`
}

function describeAccess(user: UserInfo, info: RequestInfo): string {
  const who = `User ${JSON.stringify(user.name)} cannot`
  if (!info.isResource) return `${who} ${info.verb} path ${JSON.stringify(info.path)}`
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  const what = `${who} ${info.verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(info.group)}`
  return info.namespace === ''
    ? `${what} at the cluster scope`
    : `${what} in the namespace ${JSON.stringify(info.namespace)}`
}
