import type { ResourceInfo } from '@coxswain/apimachinery/kinds'
import { builtinResources } from './builtin-resources.ts'

/**
 * Which built-in kinds are served: `all`; `generic`, those that know nothing of Pods; or the name of a resource with its
 * group, such as `deployments.apps` or `services`.
 */
export type KindSelector = 'all' | 'generic' | (string & {})

/** The generic kinds: groups as a whole, and resources of the core group. */
const genericGroups: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'rbac.authorization.k8s.io',
])
const genericCore: ReadonlySet<string> = new Set([
  'configmaps',
  'events',
  'namespaces',
  'resourcequotas',
  'secrets',
  'serviceaccounts',
])

/** The name of a resource with its group, as kubectl prints it. */
export function resourceName({ group, resource }: Pick<ResourceInfo, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`
}

/**
 * The built-in resources that `selectors` name, in the order of discovery. Namespaces are always among them, since
 * every namespaced object needs one. Throws an Error for a resource that does not exist.
 */
export function selectResources(selectors: readonly KindSelector[]): readonly ResourceInfo[] {
  const all = builtinResources()
  if (selectors.includes('all')) return all
  if (selectors.length === 0) throw new Error('no kinds: use all, generic, or names such as deployments.apps')
  const names = new Set(['namespaces', ...selectors.filter(selector => selector !== 'generic')])
  const unknown = [...names].filter(name => !all.some(info => resourceName(info) === name))
  if (unknown.length > 0) throw new Error(explainUnknown(unknown[0]!, all))
  const isGeneric = ({ group, resource }: ResourceInfo) =>
    group === '' ? genericCore.has(resource) : genericGroups.has(group)
  const hasGeneric = selectors.includes('generic')
  return all.filter(info => names.has(resourceName(info)) || (hasGeneric && isGeneric(info)))
}

function explainUnknown(name: string, all: readonly ResourceInfo[]): string {
  const head = name.split('.')[0]!.toLowerCase()
  const meant = all.find(
    ({ resource, kind, singular, shortNames }) =>
      [resource, kind.toLowerCase(), singular].includes(head) || shortNames.includes(head),
  )
  const advice = meant
    ? `did you mean ${resourceName(meant)}?`
    : 'use all, generic, or names such as deployments.apps'
  return `unknown kind ${JSON.stringify(name)}; ${advice}`
}
