import type { Env } from '@coxswain/kit'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Authorizer } from './authorizer.ts'
import type { PolicyReader } from './rbac/policy.ts'
import { createRbacAuthorizer } from './rbac/rbac-authorizer.ts'
import { authorizePrivileged, createUnionAuthorizer } from './union.ts'

/** What authorizers may use of the server. */
export interface AuthorizationPorts {
  readonly env: Env
  readonly cache: WatchCache
  readonly outbound: Outbound
  /** What roles and bindings grant; one policy per server. */
  readonly readPolicy: PolicyReader
}

/** Creates the authorizer of a server; called once, before the cache is loaded. */
export type AuthorizerFactory = (ports: AuthorizationPorts) => Authorizer

/** Creates an authorizer that allows what roles grant. */
export const rbacAuthorizer: AuthorizerFactory = ({ readPolicy }) => createRbacAuthorizer(readPolicy)

/** Tries the authorizers of `factories` in order; the first that allows or denies decides. */
export function unionAuthorizer(factories: readonly AuthorizerFactory[]): AuthorizerFactory {
  return ports => createUnionAuthorizer(factories.map(create => create(ports)))
}

/** The default: members of `system:masters` may do everything, other users what roles grant them. */
export const defaultAuthorizer: AuthorizerFactory = unionAuthorizer([
  () => authorizePrivileged,
  rbacAuthorizer,
])
