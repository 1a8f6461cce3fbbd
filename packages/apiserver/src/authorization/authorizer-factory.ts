import type { Env } from '@coxswain/kit'
import type { WatchCache } from '../cache/watch-cache.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Authorizer } from './authorizer.ts'
import type { PolicyReader } from './rbac/policy.ts'
import { createRbacAuthorizer } from './rbac/rbac-authorizer.ts'
import { authorizePrivileged, createUnionAuthorizer } from './union.ts'

/** What authorizers may use of the server they work for. */
export interface AuthorizationPorts {
  readonly env: Env
  readonly cache: WatchCache
  readonly outbound: Outbound
  /** What roles and bindings say; one policy a server. */
  readonly readPolicy: PolicyReader
}

/** Makes the authorizer of one server; called once, before the cache is loaded. */
export type AuthorizerFactory = (ports: AuthorizationPorts) => Authorizer

/** Authorizes what roles grant. */
export const rbacAuthorizer: AuthorizerFactory = ({ readPolicy }) => createRbacAuthorizer(readPolicy)

/** Asks the authorizers of `factories` in order; the first that allows or denies decides. */
export function unionAuthorizer(factories: readonly AuthorizerFactory[]): AuthorizerFactory {
  return ports => createUnionAuthorizer(factories.map(create => create(ports)))
}

/** What a server does by default: members of `system:masters` may do everything, others what roles grant them. */
export const defaultAuthorizer: AuthorizerFactory = unionAuthorizer([
  () => authorizePrivileged,
  rbacAuthorizer,
])
