import type { WatchCache } from '../../cache/watch-cache.ts'
import type { ServerState, UserInfo } from '../../request/context.ts'
import { type Access, type AccessRules, type Authorizer, type Decision, noOpinion } from '../authorizer.ts'
import { type MissingRole, type RbacPolicy, rbacPolicyOf } from './policy.ts'

/** Allows what roles allow that are bound to the user or to a group of his. It never denies. */
export function createRbacAuthorizer(): Authorizer {
  let cache: WatchCache | undefined
  let policy: RbacPolicy
  const authorize = ({ state, user, info }: Access): Decision => {
    if (state.cache !== cache) {
      if (!state.cache.isLoaded) return noOpinion
      cache = state.cache
      policy = rbacPolicyOf(cache)
    }
    const decision = policy.findAllowing(user, info)
    if (decision) return decision
    const missing = policy.findMissing(user, info.isResource ? info.namespace : '')
    return missing.length === 0
      ? noOpinion
      : { verdict: 'no opinion', reason: `RBAC: ${describeMissing(missing)}` }
  }
  return Object.assign(authorize, { rulesFor: listRules })
}

function listRules({ cache }: ServerState, user: UserInfo, namespace: string): AccessRules {
  const { rules, missing } = rbacPolicyOf(cache).rulesFor(user, namespace)
  return {
    resourceRules: rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [] }) =>
      resources.length === 0
        ? []
        : [{ verbs, apiGroups, resources, ...(resourceNames.length > 0 && { resourceNames }) }],
    ),
    nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs = [] }) =>
      nonResourceURLs.length === 0 ? [] : [{ verbs, nonResourceURLs }],
    ),
    incomplete: false,
    ...(missing.length > 0 && { evaluationError: describeMissing(missing) }),
  }
}

/** As upstream prints several errors: each once. */
function describeMissing(missing: readonly MissingRole[]): string {
  const texts = new Set(
    missing.map(
      ({ kind, name }) => `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`,
    ),
  )
  return texts.size === 1 ? [...texts][0]! : `[${[...texts].join(', ')}]`
}
