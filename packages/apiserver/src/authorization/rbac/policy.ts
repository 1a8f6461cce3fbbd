/**
 * Roles and bindings, indexed for the authorizer: bindings by subject, rules of roles compiled at their first use. It
 * follows the watch cache, so that a request sees every binding and role whose write was acknowledged before.
 *
 * Called for every request. A decision takes a map lookup for the user and each group, and a scan of the rules found;
 * nothing is allocated for a request that is allowed (`npm run bench -- access`).
 *
 * @module
 */

import {
  allowsPath,
  allowsResource,
  type CompiledRule,
  compileRule,
  type PolicyRule,
  readRules,
} from '@coxswain/strategies'
import type { CacheEvent, ResourceCache } from '../../cache/resource-cache.ts'
import type { StoredObject } from '../../cache/stored-object.ts'
import type { WatchCache } from '../../cache/watch-cache.ts'
import type { UserInfo } from '../../request/context.ts'
import type { RequestInfo } from '../../request/request-info.ts'
import type { Decision } from '../authorizer.ts'
import { Binding, type RoleRef } from './binding.ts'

const group = '/rbac.authorization.k8s.io/'
export const rbacPrefixes: Readonly<
  Record<'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding', string>
> = {
  ClusterRole: `${group}clusterroles/`,
  ClusterRoleBinding: `${group}clusterrolebindings/`,
  Role: `${group}roles/`,
  RoleBinding: `${group}rolebindings/`,
}

/** A binding and which of its subjects matches the user. */
interface Grant {
  readonly binding: Binding
  readonly subject: number
}

/** The bindings of one namespace, or the ClusterRoleBindings. */
interface Grants {
  readonly users: Map<string, Grant[]>
  readonly groups: Map<string, Grant[]>
}

/** A role that a binding refers to and that does not exist. */
export interface MissingRole {
  readonly kind: 'Role' | 'ClusterRole'
  readonly name: string
}

/** The rules granted to a user, and the bound roles that do not exist. */
export interface GrantedRules {
  readonly rules: readonly PolicyRule[]
  readonly missing: readonly MissingRole[]
}

/** Returns the policy; undefined until the cache is loaded. */
export type PolicyReader = () => RbacPolicy | undefined

/** The policy that follows `cache`, created at the first call after the cache was loaded. */
export function createPolicyReader(cache: WatchCache): PolicyReader {
  let policy: RbacPolicy | undefined
  return () => {
    if (!policy && cache.isLoaded) policy = new RbacPolicy(cache)
    return policy
  }
}

export class RbacPolicy {
  readonly #clusterRoles: ResourceCache
  readonly #roles: ResourceCache
  readonly #cluster: Grants = { users: new Map(), groups: new Map() }
  readonly #namespaces = new Map<string, Grants>()
  /** By the key of the stored object. */
  readonly #bindings = new Map<string, Binding>()
  /** Rules of the roles used so far, by the key of the stored object. */
  readonly #rules = new Map<string, readonly CompiledRule[]>()

  constructor(cache: WatchCache) {
    this.#clusterRoles = cache.resource(rbacPrefixes.ClusterRole)
    this.#roles = cache.resource(rbacPrefixes.Role)
    for (const roles of [this.#clusterRoles, this.#roles])
      follow(roles, ({ object }) => this.#rules.delete(object.key))
    for (const prefix of [rbacPrefixes.ClusterRoleBinding, rbacPrefixes.RoleBinding]) {
      const bindings = cache.resource(prefix)
      follow(bindings, event => this.#onBinding(event))
      for (const object of bindings.list()) this.#add(object)
    }
  }

  /** The decision that allows a request; undefined when nothing does. */
  findAllowing(user: UserInfo, info: RequestInfo): Decision | undefined {
    const found = this.#search(this.#cluster, user, info)
    if (found || !info.isResource || info.namespace === '') return found
    const grants = this.#namespaces.get(info.namespace)
    return grants && this.#search(grants, user, info)
  }

  /** All rules granted to a user, cluster-wide and in a namespace (none when empty). */
  rulesFor(user: UserInfo, namespace: string): GrantedRules {
    const rules: PolicyRule[] = []
    const missing: MissingRole[] = []
    for (const { binding } of this.#grantsOf(user, namespace)) {
      const found = this.#rulesOf(binding.role)
      if (found) for (const { rule } of found) rules.push(rule)
      else missing.push(binding.role)
    }
    return { rules, missing }
  }

  /** The roles bound to a user that do not exist. */
  findMissing(user: UserInfo, namespace: string): MissingRole[] {
    const missing: MissingRole[] = []
    for (const { binding } of this.#grantsOf(user, namespace))
      if (!this.#rulesOf(binding.role)) missing.push(binding.role)
    return missing
  }

  /** The rules of a role; undefined when it does not exist. */
  rulesOfRole(role: RoleRef): readonly PolicyRule[] | undefined {
    return this.#rulesOf(role)?.map(({ rule }) => rule)
  }

  /** Yields each binding once, even one that names both the user and their groups. */
  *#grantsOf(user: UserInfo, namespace: string): Generator<Grant> {
    const seen = new Set<Binding>()
    const scopes = [this.#cluster, ...(namespace === '' ? [] : [this.#namespaces.get(namespace)])]
    for (const scope of scopes) {
      if (!scope) continue
      const lists = [scope.users.get(user.name), ...user.groups.map(name => scope.groups.get(name))]
      for (const grants of lists) {
        for (const grant of grants ?? []) {
          if (seen.has(grant.binding)) continue
          seen.add(grant.binding)
          yield grant
        }
      }
    }
  }

  #search(grants: Grants, user: UserInfo, info: RequestInfo): Decision | undefined {
    const own = grants.users.get(user.name)
    const found = own && this.#searchGrants(own, user, info)
    if (found) return found
    for (const name of user.groups) {
      const shared = grants.groups.get(name)
      const granted = shared && this.#searchGrants(shared, user, info)
      if (granted) return granted
    }
    return undefined
  }

  #searchGrants(grants: readonly Grant[], user: UserInfo, info: RequestInfo): Decision | undefined {
    for (const { binding, subject } of grants) {
      const rules = this.#rulesOf(binding.role)
      if (rules && anyAllows(rules, info)) return binding.decisionFor(user, subject)
    }
    return undefined
  }

  #rulesOf({ kind, key }: RoleRef): readonly CompiledRule[] | undefined {
    const found = this.#rules.get(key)
    if (found) return found
    const object = (kind === 'Role' ? this.#roles : this.#clusterRoles).get(key)
    if (!object) return undefined
    const rules = readRules(object.parse()).map(compileRule)
    this.#rules.set(key, rules)
    return rules
  }

  #onBinding({ type, object }: CacheEvent): void {
    this.#remove(object.key)
    if (type !== 'DELETED') this.#add(object)
  }

  #add(object: StoredObject): void {
    const binding = Binding.read(object)
    if (!binding) return
    this.#bindings.set(object.key, binding)
    const { users, groups } = this.#grantsIn(binding.namespace)
    for (const [subject, { kind, id }] of binding.subjects.entries())
      addGrant(kind === 'Group' ? groups : users, id, { binding, subject })
  }

  #remove(key: string): void {
    const binding = this.#bindings.get(key)
    if (!binding) return
    this.#bindings.delete(key)
    const { users, groups } = this.#grantsIn(binding.namespace)
    for (const { kind, id } of binding.subjects) removeGrants(kind === 'Group' ? groups : users, id, binding)
    if (binding.namespace !== '' && users.size + groups.size === 0) this.#namespaces.delete(binding.namespace)
  }

  #grantsIn(namespace: string): Grants {
    if (namespace === '') return this.#cluster
    let grants = this.#namespaces.get(namespace)
    if (!grants) {
      grants = { users: new Map(), groups: new Map() }
      this.#namespaces.set(namespace, grants)
    }
    return grants
  }
}

function anyAllows(rules: readonly CompiledRule[], info: RequestInfo): boolean {
  if (!info.isResource) {
    for (const rule of rules) if (allowsPath(rule, info.verb, info.path)) return true
    return false
  }
  const { verb, group, resource, subresource, name } = info
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  for (const rule of rules) if (allowsResource(rule, verb, group, combined, subresource, name)) return true
  return false
}

function addGrant(grants: Map<string, Grant[]>, id: string, grant: Grant): void {
  const list = grants.get(id)
  // The first mention of a subject that a binding names twice counts.
  if (!list) grants.set(id, [grant])
  else if (list.at(-1)?.binding !== grant.binding) list.push(grant)
}

function removeGrants(grants: Map<string, Grant[]>, id: string, binding: Binding): void {
  const left = grants.get(id)?.filter(grant => grant.binding !== binding)
  if (!left) return
  if (left.length === 0) grants.delete(id)
  else grants.set(id, left)
}

function follow(cache: ResourceCache, onEvent: (event: CacheEvent) => void): void {
  cache.addWatcher({ namespace: '', onEvent, onEnd: () => {} })
}
