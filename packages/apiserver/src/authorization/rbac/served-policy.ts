import type { PolicyRule } from '@coxswain/strategies'
import type { BootstrapObject } from './bootstrap-policy.ts'

/** Whether a built-in resource is served, by its name with its group, such as `deployments.apps`. */
type Serves = (resource: string) => boolean

/** Roles of components that run Pods, and that no rule gives away. */
const podComponents =
  /^(system::leader-locking-kube-scheduler|system:controller:(bootstrap-signer|cloud-provider|token-cleaner))$/

/**
 * The part of the bootstrap policy that concerns served resources. Roles of users keep the rules about them; the role of
 * a component that needs another one is left out, and so are bindings to a role that is left out.
 */
export function selectServedPolicy(policy: readonly BootstrapObject[], serves: Serves): BootstrapObject[] {
  const roles = policy.filter(({ roleRef }) => !roleRef).flatMap(role => selectRole(role, serves) ?? [])
  const kept = new Set(roles.map(keyOf))
  const bindings = policy.filter(
    ({ roleRef, namespace }) =>
      roleRef && kept.has(keyOf({ kind: String(roleRef.kind), namespace, name: String(roleRef.name) })),
  )
  return [...roles, ...bindings]
}

const keyOf = ({ kind, namespace, name }: { kind: string; namespace: string; name: string }) =>
  `${kind} ${kind === 'Role' ? namespace : ''}/${name}`

function selectRole(role: BootstrapObject, serves: Serves): BootstrapObject | undefined {
  const { name, rules = [] } = role
  const served = rules.flatMap(rule => selectRule(rule, serves) ?? [])
  const isOfUsers = !name.startsWith('system:') || name.startsWith('system:aggregate-to-')
  if (isOfUsers || name === 'system:monitoring') return { ...role, rules: served }
  const isWhole = served.length === rules.length && served.every((rule, i) => rule === rules[i])
  if (!isWhole || (!serves('pods') && podComponents.test(name))) return undefined
  return role
}

/** The rule itself if all of its resources are served; undefined if none are. */
function selectRule(rule: PolicyRule, serves: Serves): PolicyRule | undefined {
  const { apiGroups = [], resources = [] } = rule
  if (resources.length === 0 || apiGroups.includes('*')) return rule
  const isServed = (resource: string) => {
    const name = resource.split('/')[0]!
    return name === '*' || apiGroups.some(group => serves(group === '' ? name : `${name}.${group}`))
  }
  const served = resources.filter(isServed)
  if (served.length === resources.length) return rule
  return served.length > 0 ? { ...rule, resources: served } : undefined
}
