import type { GrantReader } from '@coxswain/strategies'
import type { ServerState } from '../../request/context.ts'
import type { RequestVerb } from '../../request/request-info.ts'
import { roleRefOf } from './binding.ts'
import { rbacPolicyOf } from './policy.ts'

/** What the server's roles and bindings grant, read from its cache. */
export function createGrantReader(stateOf: () => ServerState): GrantReader {
  return {
    rulesFor: (user, namespace) => rbacPolicyOf(stateOf().cache).rulesFor(user, namespace),
    rulesOfRole: (kind, name, namespace) =>
      rbacPolicyOf(stateOf().cache).rulesOfRole(roleRefOf(kind, name, namespace)),
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
      const state = stateOf()
      return (await state.authorizer({ state, user, info })).verdict === 'allow'
    },
  }
}
