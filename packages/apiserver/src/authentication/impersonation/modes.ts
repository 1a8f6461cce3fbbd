/**
 * The modes of impersonation, as upstream has them: four that constrain both the action
 * (`impersonate-on:MODE:VERB`) and the user (`impersonate:MODE`), and the legacy one, which lets the
 * impersonator do everything that the other user may (`impersonate`).
 *
 * @module
 */
import { newForbidden, type StatusError } from '@coxswain/apimachinery/status'
import { nameIsDNSSubdomain } from '@coxswain/apimachinery/validation'
import {
  type Authorizer,
  type Access as AuthorizerAccess,
  describeRefusal,
} from '../../authorization/authorizer.ts'
import type { UserInfo } from '../../request/context.ts'
import type { RequestVerb, ResourceRequestInfo } from '../../request/request-info.ts'
import { allAuthenticated, allUnauthenticated, anonymous } from '../authenticator.ts'
import { serviceAccountGroups, splitServiceAccountUser } from '../service-account-name.ts'
import { checkExtra } from './extra.ts'
import type { ImpersonatedUser } from './impersonated-user.ts'

/** An impersonated user, and the mode that allows it. */
export interface Impersonation {
  readonly user: UserInfo
  /** The verb that allowed it; empty for the legacy mode, which constrains nothing. */
  readonly constraint: string
}

/** Resolves with undefined when the mode does not apply to such a user, with an error when it does not allow it. */
/** What the impersonator is about to do, and the authorizer that decides. */
export type Access = AuthorizerAccess & { readonly authorizer: Authorizer }

export type Mode = (
  wanted: ImpersonatedUser,
  access: Access,
) => Promise<Impersonation | StatusError | undefined>

const nodeNameKey = 'authentication.kubernetes.io/node-name'
const nodePrefix = 'system:node:'
const masters = 'system:masters'
/** From this many values on, a constrained mode first checks permission for all of them at once. */
const many = 4

/** In the order in which they are tried. */
export const modes: readonly Mode[] = [
  constrained('associated-node', isOwnNode, hideNode),
  constrained('arbitrary-node', wanted => isNameOnly(wanted) && nodeOf(wanted.name) !== undefined),
  constrained(
    'serviceaccount',
    wanted => isNameOnly(wanted) && splitServiceAccountUser(wanted.name) !== undefined,
  ),
  constrained(
    'user-info',
    ({ name }) => nodeOf(name) === undefined && splitServiceAccountUser(name) === undefined,
  ),
  (wanted, access) => checkUser(wanted, { access, verb: 'impersonate', isConstrained: false }),
]

function constrained(
  mode: string,
  applies: (wanted: ImpersonatedUser, requester: UserInfo) => boolean,
  adapt: (access: Access) => Access = access => access,
): Mode {
  return async (wanted, access) => {
    if (!applies(wanted, access.user)) return undefined
    const { info } = access
    const on = { ...access, info: { ...info, verb: `impersonate-on:${mode}:${info.verb}` } } as Access
    const refusal = await check(adapt(on))
    if (refusal) return refusal
    return await checkUser(wanted, { access, verb: `impersonate:${mode}`, isConstrained: true, adapt })
  }
}

interface Check {
  readonly access: Access
  readonly verb: string
  readonly isConstrained: boolean
  readonly adapt?: (access: Access) => Access
}

/** Checks permission for each part of the requested user. */
async function checkUser(wanted: ImpersonatedUser, how: Check): Promise<Impersonation | StatusError> {
  const { access, verb, isConstrained, adapt = same => same } = how
  const namesGroup = isConstrained ? 'authentication.k8s.io' : ''
  const ask = (group: string, resource: string, more: Partial<ResourceRequestInfo>) =>
    check(adapt({ ...access, info: impersonate(verb, group, resource, more) }))
  const account = splitServiceAccountUser(wanted.name)
  const node = isConstrained ? nodeOf(wanted.name) : undefined
  let { groups } = wanted
  let refusal: StatusError | undefined
  if (account) {
    if (groups.length === 0) groups = serviceAccountGroups(account.namespace)
    refusal = await ask(namesGroup, 'serviceaccounts', account)
  } else if (node !== undefined) {
    groups = ['system:nodes']
    refusal = await ask(namesGroup, 'nodes', { name: node })
  } else refusal = await ask(namesGroup, 'users', { name: wanted.name })
  if (wanted.uid !== '') refusal ??= await ask('authentication.k8s.io', 'uids', { name: wanted.uid })
  refusal ??= await checkGroups()
  refusal ??= await checkExtras()
  if (refusal) return refusal
  return { user: resultOf(wanted, groups), constraint: isConstrained ? verb : '' }

  async function checkGroups(): Promise<StatusError | undefined> {
    if (isConstrained) {
      const forbid = (name: string, reason: string) =>
        forbidden({ ...access, info: impersonate(verb, namesGroup, 'groups', { name }) }, reason)
      if (wanted.groups.includes('')) return forbid('', 'impersonating the empty string group is not allowed')
      if (wanted.groups.includes(masters))
        return forbid(masters, 'impersonating the system:masters group is not allowed')
      if (wanted.groups.length >= many && !(await ask(namesGroup, 'groups', { name: '*' }))) return undefined
    }
    for (const name of wanted.groups) {
      const denied = await ask(namesGroup, 'groups', { name })
      if (denied) return denied
    }
    return undefined
  }

  async function checkExtras(): Promise<StatusError | undefined> {
    const entries = Object.entries(wanted.extra)
    if (entries.length === 0) return undefined
    const authorizeExtra = (subresource: string, name: string) =>
      ask('authentication.k8s.io', 'userextras', { subresource, name })
    if (isConstrained) {
      const problem = checkExtra(wanted.extra)
      if (problem !== undefined) {
        const info = impersonate(verb, 'authentication.k8s.io', 'userextras', {})
        return forbidden({ ...access, info }, problem)
      }
      const isLarge =
        entries.length >= many || entries.reduce((sum, [, values]) => sum + values.length, 0) >= many
      if (isLarge && !(await authorizeExtra('*', '*'))) return undefined
    }
    for (const [key, values] of entries) {
      for (const value of values) {
        const denied = await authorizeExtra(key, value)
        if (denied) return denied
      }
    }
    return undefined
  }
}

/** Every user is in one of two groups, unless the impersonator set them. */
function resultOf({ name, uid, extra }: ImpersonatedUser, groups: readonly string[]): UserInfo {
  const implied = name === anonymous.name ? allUnauthenticated : allAuthenticated
  const isComplete = groups.includes(implied) || groups.includes(allUnauthenticated)
  return { name, uid, groups: isComplete ? groups : [...groups, implied], extra }
}

async function check(access: Access): Promise<StatusError | undefined> {
  const { verdict, reason = '', error } = await access.authorizer(access)
  if (verdict === 'allow') return undefined
  if (error === undefined) return forbidden(access, reason)
  return forbidden(access, reason === '' ? error : `${error}: ${reason}`)
}

function forbidden({ user, info }: Access, reason: string): StatusError {
  const { group, resource, name } = info.isResource ? info : { group: '', resource: '', name: '' }
  return newForbidden({ group, resource }, name, describeRefusal(user, info, reason))
}

function impersonate(
  verb: string,
  group: string,
  resource: string,
  more: Partial<ResourceRequestInfo>,
): ResourceRequestInfo {
  return {
    isResource: true,
    verb: verb as RequestVerb,
    group,
    version: 'v1',
    namespace: '',
    resource,
    subresource: '',
    name: '',
    rest: [],
    legacyWatch: false,
    ...more,
  }
}

/** The node of this user. */
function nodeOf(user: string): string | undefined {
  if (!user.startsWith(nodePrefix)) return undefined
  const name = user.slice(nodePrefix.length)
  return nameIsDNSSubdomain(name, false).length === 0 ? name : undefined
}

function isNameOnly({ uid, groups, extra }: ImpersonatedUser): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0
}

/** Whether a service account impersonates the node that its Pod runs on. */
function isOwnNode(wanted: ImpersonatedUser, requester: UserInfo): boolean {
  const node = nodeOf(wanted.name)
  if (!isNameOnly(wanted) || node === undefined || !splitServiceAccountUser(requester.name)) return false
  const values = requester.extra?.[nodeNameKey] ?? []
  return values.length === 1 && values[0] === node
}

/**
 * The check for all nodes at once: a service account may impersonate its own node on every node or on none. The values
 * of the account's extra do not matter, since it has been verified to run on the node.
 */
function hideNode(access: Access): Access {
  const { user, info } = access
  const keys = Object.keys(user.extra ?? {}).sort()
  const isNode = info.isResource && (info.verb as string) === 'impersonate:associated-node'
  return {
    ...access,
    user: { ...user, extra: { 'authentication.kubernetes.io/associated-node-keys': keys } },
    info: isNode ? { ...info, name: '*' } : info,
  }
}
