import type { GrantReader } from '@coxswain/strategies'
import type { RequestVerb } from '../../request/request-info.ts'
import type { Authorizer } from '../authorizer.ts'
import { roleRefOf } from './binding.ts'
import type { PolicyReader } from './policy.ts'

/** What roles and bindings grant, and the decisions of `authorizer` about `escalate` and `bind`. */
export function createGrantReader(readPolicy: PolicyReader, authorizer: Authorizer): GrantReader {
  return {
    rulesFor: (user, namespace) => readPolicy()?.rulesFor(user, namespace) ?? { rules: [], missing: [] },
    rulesOfRole: (kind, name, namespace) => readPolicy()?.rulesOfRole(roleRefOf(kind, name, namespace)),
    async mayUse(user, { verb, resource, namespace, name }) {
      const info = {
        isResource: true as const,
        verb: verb as RequestVerb,
        group: 'rbac.authorization.k8s.io',
        version: '*',
        namespace,
        resource,
        subresource: '',
        name,
        rest: [],
        legacyWatch: false,
      }
      return (await authorizer({ user, info })).verdict === 'allow'
    },
  }
}
