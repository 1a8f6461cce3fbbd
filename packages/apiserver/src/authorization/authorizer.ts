import type { UserInfo } from '@coxswain/strategies'
import type { RequestInfo } from '../request/request-info.ts'

/** The access to decide on: that of a request, or of a review. */
export interface Access {
  readonly user: UserInfo
  readonly info: RequestInfo
}

/** What a user may do in a namespace, as far as it can be enumerated. */
export interface AccessRules {
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
  /** Whether the list may be incomplete. */
  readonly incomplete: boolean
  /** The error that kept the authorizer from listing everything. */
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

/** An authorizer's decision. Only `allow` admits the request; after `deny` no other authorizer is consulted. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion'
  /** For the error message of a rejected request, and for reviews. */
  readonly reason?: string
  /** The error that kept the authorizer from evaluating everything; for reviews and audit. */
  readonly error?: string
}

/** The decision to allow, without a reason. */
export const allow: Decision = { verdict: 'allow' }
/** The decision to deny, without a reason. */
export const deny: Decision = { verdict: 'deny' }
/** Leaves the decision to the next authorizer. */
export const noOpinion: Decision = { verdict: 'no opinion' }

/** Decides whether an access is allowed; synchronously where possible, since every request waits for it. */
export interface Authorizer {
  (access: Access): Decision | Promise<Decision>
  /** Lists what a user may do. An authorizer without it cannot enumerate rules. */
  readonly rulesFor?: (user: UserInfo, namespace: string) => AccessRules | Promise<AccessRules>
  /** Releases its resources; called when the server stops. */
  readonly dispose?: () => Promise<void>
}

const everything = ['*']

/** Allows every access. */
export const alwaysAllow: Authorizer = Object.assign((): Decision => allow, {
  rulesFor: (): AccessRules => ({
    resourceRules: [{ verbs: everything, apiGroups: everything, resources: everything }],
    nonResourceRules: [{ verbs: everything, nonResourceURLs: everything }],
    incomplete: false,
  }),
})

const forbidden: Decision = { verdict: 'no opinion', reason: 'Everything is forbidden.' }

/** Has no opinion, like upstream's, so that a later authorizer may still allow. */
export const alwaysDeny: Authorizer = Object.assign((): Decision => forbidden, {
  rulesFor: (): AccessRules => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
})

/** Upstream's message for a forbidden request, with the authorizer's reason if it gave one. */
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
