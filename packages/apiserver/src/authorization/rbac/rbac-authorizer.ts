import type { UserInfo } from '@coxswain/strategies'
import { type Access, type AccessRules, type Authorizer, type Decision, noOpinion } from '../authorizer.ts'
import type { MissingRole, PolicyReader } from './policy.ts'

/** Allows what the roles bound to the user or their groups allow. It never denies. */
export function createRbacAuthorizer(readPolicy: PolicyReader): Authorizer {
  const authorize = ({ user, info }: Access): Decision => {
    const policy = readPolicy()
    if (!policy) return noOpinion
    const decision = policy.findAllowing(user, info)
    if (decision) return decision
    const missing = policy.findMissing(user, info.isResource ? info.namespace : '')
    return missing.length === 0
      ? noOpinion
      : { verdict: 'no opinion', reason: `RBAC: ${describeMissing(missing)}` }
  }
  return Object.assign(authorize, {
    rulesFor: (user: UserInfo, namespace: string) => listRules(readPolicy, user, namespace),
  })
}

function listRules(readPolicy: PolicyReader, user: UserInfo, namespace: string): AccessRules {
  const { rules, missing } = readPolicy()?.rulesFor(user, namespace) ?? { rules: [], missing: [] }
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

/** Prints several errors as upstream does: each once. */
function describeMissing(missing: readonly MissingRole[]): string {
  const texts = new Set(
    missing.map(
      ({ kind, name }) => `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`,
    ),
  )
  return texts.size === 1 ? [...texts][0]! : `[${[...texts].join(', ')}]`
}
