import type { ClusterRole, RoleBinding } from '@coxswain/api/rbac/v1'
import { joinErrors } from '@coxswain/apimachinery/errors'
import { quoteAll } from '@coxswain/apimachinery/go'
import { deepEqual } from '@coxswain/apimachinery/json'
import type { ObjectMeta } from '@coxswain/apimachinery/meta'
import { newForbidden, newNotFound } from '@coxswain/apimachinery/status'
import type { Decoded } from '../decoded.ts'
/**
 * Users cannot grant permissions that they do not have: the rules of a role must be covered by those of its author, and so
 * must those of the role that a binding refers to, unless the author may `escalate` or `bind`.
 *
 * @module
 */

import type { StrategyContext } from '../strategy.ts'
import { describeUncovered, findUncovered } from './covers.ts'
import { type PolicyRule, readRules } from './rule.ts'

const group = 'rbac.authorization.k8s.io'

interface WithMetadata {
  readonly metadata: Decoded<ObjectMeta>
}

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** Throws a 403 when a role grants more than its author has. */
export async function checkRole(
  resource: 'roles' | 'clusterroles',
  object: Decoded<ClusterRole>,
  old: Decoded<ClusterRole> | undefined,
  context: StrategyContext,
): Promise<void> {
  if (isPrivileged(context) || (old && changesOwnershipOnly(object, old))) return
  const { name = '', namespace = '' } = object.metadata
  // A request without a name is not covered by a rule that is limited to names.
  if (
    await context.grants.mayUse(context.user, {
      verb: 'escalate',
      resource,
      namespace,
      name: old ? name : '',
    })
  )
    return
  const problem = findEscalation(context, resource, namespace, readRules(object))
  if (problem) throw newForbidden({ group, resource }, name, problem)
  if (!hasAggregation(object) && !(old && hasAggregation(old))) return
  if (findEscalation(context, resource, namespace, everything))
    throw newForbidden(
      { group, resource },
      name,
      'must have cluster-admin privileges to use the aggregationRule',
    )
}

/** Throws a 403 when a binding refers to a role that has more than its author, a 404 when there is no such role. */
export async function checkBinding(
  resource: 'rolebindings' | 'clusterrolebindings',
  object: Decoded<RoleBinding>,
  old: Decoded<RoleBinding> | undefined,
  context: StrategyContext,
): Promise<void> {
  if (isPrivileged(context) || (old && changesOwnershipOnly(object, old))) return
  const { name = '', namespace = '' } = object.metadata
  const { kind, name: roleName = '' } = object.roleRef ?? {}
  // Validation rejects other kinds.
  if (kind !== 'Role' && kind !== 'ClusterRole') return
  const roles = kind === 'Role' ? 'roles' : 'clusterroles'
  if (await context.grants.mayUse(context.user, { verb: 'bind', resource: roles, namespace, name: roleName }))
    return
  const rules = context.grants.rulesOfRole(kind, roleName, namespace)
  if (!rules) throw newNotFound({ group, resource }, roleName)
  const problem = findEscalation(context, resource, namespace, rules)
  if (problem) throw newForbidden({ group, resource }, name, problem)
}

function isPrivileged({ user }: StrategyContext): boolean {
  return user.groups.includes('system:masters')
}

/** Undefined when the user has everything that `rules` grant. Only RBAC counts, as upstream: other authorizers are not asked. */
function findEscalation(
  { grants, user }: StrategyContext,
  resource: string,
  namespace: string,
  rules: readonly PolicyRule[],
): string | undefined {
  const owned = grants.rulesFor(user, namespace)
  const uncovered = findUncovered(owned.rules, rules)
  if (uncovered.pieces.length === 0 && !uncovered.truncated) return undefined
  const who = `user ${JSON.stringify(user.name)} (groups=${quoteAll(user.groups)})`
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${describeUncovered(uncovered)}`
  if (owned.missing.length === 0) return text
  // Upstream names missing roles by the resource of the request.
  const missing = owned.missing.map(({ name }) => `${resource}.${group} ${JSON.stringify(name)} not found`)
  return `${text}; resolution errors: [${joinErrors(missing)}]`
}

function hasAggregation({ aggregationRule }: Decoded<ClusterRole>): boolean {
  const selectors = aggregationRule?.clusterRoleSelectors
  return (selectors ?? []).length > 0
}

/** What the garbage collector changes. */
function changesOwnershipOnly(object: WithMetadata, old: WithMetadata): boolean {
  return deepEqual(withoutOwnership(object), withoutOwnership(old))
}

function withoutOwnership(object: WithMetadata): WithMetadata {
  const {
    ownerReferences: _o,
    finalizers: _f,
    managedFields: _m,
    resourceVersion: _r,
    ...metadata
  } = object.metadata
  return { ...object, metadata }
}
